package scaleout

import (
	"encoding/json"
	"fmt"
	"time"

	"simgraph/internal/fatal"
)

// record is a line of a stream of usage.
func record(physicalID, id string, bytes int64) string {
	at := time.Now().UTC().Add(-time.Minute)
	return fmt.Sprintf(`{"recordId":%q,"source":"scaleout","physicalId":%q,"startedAt":%q,"endedAt":%q,"mobileOriginated":%d,"mobileTerminated":0,"protocol":"TCP"}`+"\n",
		id, physicalID, at.Format(time.RFC3339), at.Format(time.RFC3339), bytes)
}

// dataUsage is what a subscriber has used in the current billing period.
func (s *service) dataUsage(physicalID string) int64 {
	s.t.Helper()
	got := s.must(document(`query Used($id: String!) { subscriber(by: {physicalId: $id}) { dataUsage } }`, map[string]any{"id": physicalID}))
	var read struct {
		Data struct {
			Subscriber struct {
				DataUsage json.Number `json:"dataUsage"`
			} `json:"subscriber"`
		} `json:"data"`
	}
	fatal.If(s.t, json.Unmarshal(got.body, &read))
	used, err := read.Data.Subscriber.DataUsage.Int64()
	fatal.If(s.t, err)
	return used
}
