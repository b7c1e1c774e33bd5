//go:build linux

package faults_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/radius"
)

// networkState is what both endpoints show of a subscriber.
type networkState struct{ IsOnline, IsTransferring bool }

// follow sends the states that subscriberChanged reports of a subscriber.
func (f *fedNode) follow(physicalID string) <-chan networkState {
	f.Helper()
	body := document(fmt.Sprintf(`subscription {subscriberChanged(physicalIds: [%q]) {networkState {isOnline isTransferring}}}`, physicalID))
	request, err := http.NewRequestWithContext(f.Context(), http.MethodPost, f.url("/graphql"), strings.NewReader(body))
	fatal.If(f, err)
	for name, value := range map[string]string{"Authorization": "Bearer " + f.token, "Content-Type": "application/json", "Accept": "text/event-stream"} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != http.StatusOK {
		f.Fatal(answer, err)
	}
	f.Cleanup(func() { _ = answer.Body.Close() })
	states := make(chan networkState, 100)
	go func() {
		defer close(states)
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			var event struct {
				Data struct {
					SubscriberChanged *struct{ NetworkState networkState }
				}
			}
			text, isData := strings.CutPrefix(lines.Text(), "data: ")
			if isData && json.Unmarshal([]byte(text), &event) == nil && event.Data.SubscriberChanged != nil {
				states <- event.Data.SubscriberChanged.NetworkState
			}
		}
	}()
	return states
}

// shown is what both endpoints show of the subscriber, and of the fleet that has its
// state.
func (f *fedNode) shown(physicalID string) (state networkState, texts string) {
	f.Helper()
	var data struct {
		Subscriber struct {
			NetworkState networkState
			LastSeen     *time.Time
			Sessions     struct{ Nodes []struct{ Cause string } }
		}
		Online, Last struct{ Nodes []struct{ PhysicalID string } }
		Company      struct {
			Fleet struct{ Online, Transferring int }
		}
	}
	f.graph(fmt.Sprintf(`{
  subscriber(by: {physicalId: %q}) {networkState {isOnline isTransferring} lastSeen sessions {nodes {cause}}}
  online: subscribers(filter: {networkState: {isOnline: {eq: true}}, physicalId: {eq: %[1]q}}) {nodes {physicalId}}
  last: subscribers(orderBy: [{field: NETWORK_STATE_IS_ONLINE, direction: DESC}, {field: NETWORK_STATE_IS_TRANSFERRING, direction: DESC}], first: 1, filter: {physicalId: {eq: %[1]q}}) {nodes {physicalId}}
  company {fleet {online transferring}}}`, physicalID), &data)
	var rest struct {
		Content struct{ NetworkState networkState }
	}
	fatal.If(f, json.Unmarshal(f.must(http.MethodGet, "/subscribers/"+physicalID, ""), &rest))
	var list struct{ Content []struct{ PhysicalID string } }
	filter := url.QueryEscape(fmt.Sprintf(`networkState.isOnline eq true and physicalId eq "%s"`, physicalID))
	fatal.If(f, json.Unmarshal(f.must(http.MethodGet, "/subscribers?filter="+filter, ""), &list))
	state = data.Subscriber.NetworkState
	if online := len(data.Online.Nodes) == 1; rest.Content.NetworkState != state || online != state.IsOnline || len(list.Content) != len(data.Online.Nodes) || len(data.Last.Nodes) != 1 {
		f.Errorf("the endpoints differ: %+v, %+v, %+v", data, rest, list)
	}
	var causes []string
	for _, session := range data.Subscriber.Sessions.Nodes {
		causes = append(causes, session.Cause)
	}
	return state, fmt.Sprintf("%t %d %d %v", data.Subscriber.LastSeen != nil, data.Company.Fleet.Online, data.Company.Fleet.Transferring, causes)
}

// A subscriber is online while it has a session, on both endpoints, in filters, in the
// counts of the fleet and in the events of its subscription: until a Stop, the restart
// of its network element, or three intervals of silence.
func TestNetworkStateFollowsSessions(t *testing.T) {
	t.Parallel()
	f := startFed(t, "--session-interval", "10s")
	var found struct {
		Subscribers struct {
			Nodes []struct{ PhysicalID, IMSI string }
		}
		Company struct {
			Fleet struct{ Online, Transferring int }
		}
	}
	f.graph(`{subscribers(first: 1, filter: {imsi: {ne: ""}, networkState: {isOnline: {eq: false}}}) {nodes {physicalId imsi}} company {fleet {online transferring}}}`, &found)
	of, fleet := found.Subscribers.Nodes[0], found.Company.Fleet
	states := f.follow(of.PhysicalID)
	began := time.Now()
	for i, step := range []struct {
		event          domain.SessionEvent
		session        string
		bytes          int64
		want           networkState
		online, moving int
		causes         string
	}{
		{domain.SessionStarted, "a", 0, networkState{IsOnline: true}, 1, 0, "[]"},
		{domain.SessionUpdated, "a", 700, networkState{true, true}, 1, 1, "[]"},
		{domain.SessionStopped, "a", 700, networkState{}, 0, 0, "[User-Request]"},
		{domain.SessionStarted, "b", 0, networkState{IsOnline: true}, 1, 0, "[ User-Request]"},
		{"restart", "", 0, networkState{}, 0, 0, "[NAS-Restart User-Request]"},
		{domain.SessionStarted, "c", 0, networkState{IsOnline: true}, 1, 0, "[ NAS-Restart User-Request]"},
		{"silence", "", 0, networkState{}, 0, 0, "[Timeout NAS-Restart User-Request]"},
	} {
		time.Sleep(1100 * time.Millisecond) // RADIUS states times in whole seconds
		silent := time.Now()
		switch step.event {
		case "silence":
		case "restart":
			fatal.If(t, f.account(t.Context(), radius.Restarted("pgw1", time.Now(), []byte(radiusSecret))))
		default:
			fatal.If(t, f.account(t.Context(), reportOf(of.IMSI, step.session, step.event, began, step.bytes)))
		}
		select {
		case state := <-states:
			if state != step.want {
				t.Errorf("%d: the subscription reports %+v", i, state)
			}
		case <-time.After(2 * patience):
			t.Fatalf("%d: the subscription reports nothing", i)
		}
		if took := time.Since(silent); step.event == "silence" && took < 25*time.Second {
			t.Errorf("a silent session ended after %v", took)
		}
		state, texts := f.shown(of.PhysicalID)
		want := fmt.Sprintf("true %d %d %s", fleet.Online+step.online, fleet.Transferring+step.moving, step.causes)
		if state != step.want || texts != want {
			t.Errorf("%d: %+v %s, not %+v %s", i, state, texts, step.want, want)
		}
	}
}
