//go:build linux

package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The company that all tests start from.
const (
	fleet = 40
	// groups share the fleet evenly.
	groups = 4
	// stagger is the distance between thresholds in bytes: while records come,
	// one subscriber after the other crosses one.
	stagger = 1_500
)

var recipients = []string{"one@alerts.example", "two@alerts.example"}

func physicalID(i int) string { return fmt.Sprintf("89441100000000%05d", i) }

// bundle is the company as simgraph imports it.
func bundle() []byte {
	var text bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	line(`{"type":"company","id":"acme","name":"Acme","billingDay":1,"timeZone":"UTC"}`)
	line(`{"type":"operator","code":"23415","name":"Vodafone UK"}`)
	line(`{"type":"tariff","company":"acme","name":"IoT","lineRental":150,"currency":"GBP"}`)
	for g := 1; g <= groups; g++ {
		line(`{"type":"group","company":"acme","id":%d,"name":"Group %d"}`, g, g)
	}
	line(`{"type":"user","company":"acme","email":"ops@acme.example","permissions":[%s],"groups":[]}`, permissions)
	for i := range fleet {
		line(`{"type":"subscriber","company":"acme","kind":"cellular","physicalId":%q,"subscriberId":"4470000%05d","imsi":"2341500000%05d",`+
			`"nickname":"","operatorCode":"23415","tariffName":"IoT","connectionDate":"2024-01-01T00:00:00Z","expiryDate":"2037-01-01T00:00:00Z",`+
			`"contractLength":36,"isBarred":false,"isActive":true,"groupId":%d,"subscriberType":"physical","networkState":{"isTransferring":false,"isOnline":true}}`, physicalID(i), i, i, 1+i%groups)
		line(`{"type":"alert","company":"acme","ruleType":"sim","target":"4470000%05d","lowerThreshold":%d,"upperThreshold":%d}`, i, stagger*(i+1), stagger*(i+20))
	}
	line(`{"type":"alert","company":"acme","ruleType":"company","target":"","lowerThreshold":%d,"upperThreshold":%d}`, 15*stagger, 30*stagger)
	for g := 1; g <= groups; g++ {
		line(`{"type":"alert","company":"acme","ruleType":"grouppr","target":"%d","lowerThreshold":%d,"upperThreshold":%d}`, g, 100*stagger*g, 200*stagger*g)
	}
	for _, email := range recipients {
		line(`{"type":"recipient","company":"acme","email":%q}`, email)
	}
	return text.Bytes()
}

const permissions = `"VIEW_STATISTICS_OVERVIEW","VIEW_SUBSCRIBER","MANAGE_INVENTORY","UPDATE_THE_DETAILS_OF_A_SUBSCRIBER",` +
	`"VIEW_MONITORING_ALERTS","VIEW_A_USERS_DETAILS","RECORD_USAGE"`

// accessKey is one that `simgraph key create` made.
type accessKey struct {
	AccessKeyID, Secret string
}

// preparation is a data directory with the company, which tests copy.
var preparation struct {
	once sync.Once
	dir  string
	key  accessKey
	err  error
}

func prepared() (dir string, err error) {
	p := &preparation
	p.once.Do(func() { p.dir = filepath.Join(room, "prepared"); p.key, p.err = prepare(p.dir) })
	return p.dir, p.err
}

// prepare imports the company by simgraph itself.
func prepare(dir string) (key accessKey, err error) {
	file := filepath.Join(room, "acme.ndjson")
	if err := os.WriteFile(file, bundle(), 0o600); err != nil {
		return key, err
	}
	if _, err := output("import", file, "--data-dir", dir); err != nil {
		return key, err
	}
	text, err := output("key", "create", "--user", "ops@acme.example", "--data-dir", dir)
	if err != nil {
		return key, err
	}
	return key, json.Unmarshal(text, &key)
}

func output(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("simgraph %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return out, nil
}
