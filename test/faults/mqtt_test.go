//go:build linux

package faults_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

const (
	// meterMessages is how many messages the meters publish, each of them twice.
	meterMessages = 240
	// meterRecords is how many records a message has.
	meterRecords = 5
)

// connectMeters makes a profile for the records of meters and a source that has it.
const connectMeters = `mutation ($fields: [SourceFieldExpressionInput!]!) {
  setSourceProfile(input: {profile: {name: "meters", format: JSON, fields: $fields}}) { profile { version } }
  createSource(input: {name: "meters", profileName: "meters", authentication: BEARER}) { secret source { path } }
}`

var meterFields = []map[string]string{
	{"field": "PHYSICAL_ID", "expression": "r.iccid"}, {"field": "RECORD_ID", "expression": "r.id"},
	{"field": "ENDED_AT", "expression": "r.at"}, {"field": "VOLUME", "expression": "r.bytes"},
}

// meters publish by MQTT what Node-RED delivers to a simgraph, by the files of deploy/mqtt.
type meters struct {
	*operating
	dir, broker  string
	path, secret string
	nodeRED      *exec.Cmd
}

// needed skips the test where a program is missing.
func needed(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, err := exec.LookPath(path); err != nil {
			if _, err := os.Stat(path); err != nil {
				t.Skipf("this needs %s: scripts/install-test-tools.sh installs it", path)
			}
		}
	}
}

const nodeREDProgram = "../nodered/node_modules/node-red/red.js"

func newMeters(t *testing.T) *meters {
	t.Helper()
	const broker = "/usr/sbin/mosquitto"
	needed(t, broker, "mosquitto_pub", "node", nodeREDProgram)
	d := newDatabase(t)
	m := &meters{operating: &operating{T: t, pool: d.open()}, dir: t.TempDir()}
	m.launches = []launch{{databaseURL: d.url(), dataDir: t.TempDir(), addr: freeAddress(t)}}
	m.instances = []*serving{serve(t, m.launches[0])}
	c := newCaller(t, m.instances[0].base)
	var made struct {
		CreateSource struct {
			Secret string
			Source struct{ Path string }
		}
	}
	if c.graph(t.Context(), connectMeters, map[string]any{"fields": meterFields}, &made) != done {
		t.Fatal(c.wrong)
	}
	m.path, m.secret = made.CreateSource.Source.Path, made.CreateSource.Secret
	m.broker = freeAddress(t)
	m.write("mosquitto.conf", "user root\n"+m.read("../../deploy/mqtt/mosquitto.conf"))
	_, port, _ := net.SplitHostPort(m.broker)
	m.start(broker, "-c", filepath.Join(m.dir, "mosquitto.conf"), "-p", port)
	eventually(t, "the broker listens", func() bool {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", m.broker)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	})
	// Packages as Node-RED itself would install them for the flow.
	modules, err := filepath.Abs("../nodered/node_modules")
	if err == nil {
		err = os.Symlink(modules, filepath.Join(m.dir, "node_modules"))
	}
	fatal.If(t, err)
	m.write("package.json", m.read("../nodered/package.json"))
	m.write("flow.json", m.read("../../deploy/mqtt/node-red-flow.json"))
	return m
}

func (m *meters) read(path string) string {
	m.Helper()
	text, err := os.ReadFile(path)
	fatal.If(m, err)
	return string(text)
}

func (m *meters) write(name, text string) {
	m.Helper()
	fatal.If(m, os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600))
}

// start runs a program until the test ends.
func (m *meters) start(name string, args ...string) *exec.Cmd {
	m.Helper()
	cmd := exec.CommandContext(m.Context(), name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = m.dir, m.Output(), m.Output()
	cmd.Env = append(os.Environ(), "MQTT_URL=mqtt://"+m.broker, "MQTT_TOPIC=meters/#", "SIMGRAPH_SOURCE=http://"+m.launches[0].addr+m.path, "SIMGRAPH_SECRET="+m.secret,
		"SIMGRAPH_REFUSED="+filepath.Join(m.dir, "refused"))
	fatal.If(m, cmd.Start())
	m.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func (m *meters) startNodeRED() {
	m.Helper()
	program, err := filepath.Abs(nodeREDProgram)
	fatal.If(m, err)
	_, port, _ := net.SplitHostPort(freeAddress(m.T))
	m.nodeRED = m.start("node", program, "-u", m.dir, "-p", port, "-D", "uiHost=127.0.0.1", "-D", "disableEditor=true", filepath.Join(m.dir, "flow.json"))
}

func (m *meters) killNodeRED() {
	_ = m.nodeRED.Process.Signal(syscall.SIGKILL)
	_ = m.nodeRED.Wait()
}

// message is one with records of a byte count of their own.
func (m *meters) message(n int) string {
	var records []string
	at := time.Now().AddDate(0, 0, -1).UTC().Truncate(time.Hour)
	for of := n * meterRecords; of < (n+1)*meterRecords; of++ {
		records = append(records, fmt.Sprintf(`{"id":"m-%d","iccid":%q,"at":%q,"bytes":%d}`, of, physicalID(of%fleet), at.Add(time.Duration(of)*time.Second).Format(time.RFC3339), of))
	}
	return "[" + strings.Join(records, ",") + "]"
}

// publish has the meters publish messages with QoS 1, a line each.
func (m *meters) publish(topic string, messages ...string) {
	m.Helper()
	host, port, _ := net.SplitHostPort(m.broker)
	pub := exec.CommandContext(m.Context(), "mosquitto_pub", "-h", host, "-p", port, "-q", "1", "-t", topic, "-l")
	pub.Stdin = strings.NewReader(strings.Join(messages, "\n") + "\n")
	if out, err := pub.CombinedOutput(); err != nil {
		m.Fatalf("mosquitto_pub: %v: %s", err, out)
	}
}

func (m *meters) received() int {
	return m.count(`SELECT coalesce(sum(accepted + duplicates), 0) FROM sources WHERE name = 'meters'`)
}

// Meters publish each message twice, with QoS 1, while Node-RED and simgraph are killed; much of
// it while Node-RED is away. Each record is booked once, and none is lost. What simgraph
// refuses is kept in a file.
func TestMetersPublishByMQTT(t *testing.T) {
	t.Parallel()
	m := newMeters(t)
	var messages []string
	for n := range meterMessages {
		messages = append(messages, m.message(n))
	}
	m.startNodeRED()
	eventually(t, "Node-RED has subscribed", func() bool {
		m.publish("meters/probe", messages[0])
		return m.received() > 0
	})
	m.killNodeRED()
	third := meterMessages / 3
	m.publish("meters/berlin", messages[:third]...)
	m.startNodeRED()
	goesOn := func() {
		before := m.received()
		eventually(t, "messages are delivered", func() bool { return m.received() > before })
	}
	goesOn()
	m.instances[0].kill()
	m.publish("meters/berlin", messages[third:2*third]...)
	m.instances[0] = serve(t, m.launches[0])
	goesOn()
	m.killNodeRED()
	m.publish("meters/rome", messages...)
	m.startNodeRED()
	m.publish("meters/berlin", messages[2*third:]...)
	m.publish("meters/rome", "["+strings.Repeat("{},", 3000)+"{}]") // too many records
	eventually(t, "all is delivered twice", func() bool { return m.received() >= 2*meterMessages*meterRecords })
	records := meterMessages * meterRecords
	if n := m.count(`SELECT count(*) FROM usage_records`); n != records {
		t.Errorf("%d records are booked, want %d", n, records)
	}
	for _, table := range []string{"usage_records", "group_hours", "subscriber_periods"} {
		if n := m.count(`SELECT sum(mobile_originated + mobile_terminated) FROM ` + table); n != records*(records-1)/2 {
			t.Errorf("%s: %d bytes, want %d", table, n, records*(records-1)/2)
		}
	}
	eventually(t, "what is refused is kept", func() bool {
		about, err := os.Stat(filepath.Join(m.dir, "refused"))
		return err == nil && about.Size() > 9000
	})
	if n := m.count(`SELECT count(*) FROM source_rejects`); n > 0 {
		t.Errorf("%d rejects", n)
	}
}
