package tag_test

import (
	"testing"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/tag"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// manyTagged are 10,000 subscribers that carry one of seven tags.
const manyTagged = `
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT 1, 'cellular', 'x' || n, 's' || n, '', '', '23410', 'IoT 50', '2024-01-01Z', '2027-01-01Z', 36, false, true, 'physical', false, false
FROM generate_series(1, 10000) n;

INSERT INTO subscriber_tags (company_id, subscriber_key, tag_name)
SELECT 1, key, 'site ' || key % 7 FROM subscribers WHERE company_id = 1 AND physical_id LIKE 'x%'`

// What the number of tags and a page of their names cost follows the tags, not the subscribers
// that carry them.
func TestTheListOfTagsReadsLittleOfTheFleet(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	pool := fleettest.NewInventory(t)
	before, err := tag.New(pool).Count(t.Context(), fleettest.All, domain.Listing{})
	fatal.If(t, err)
	fleettest.ExecEach(pool, manyTagged)
	dbtest.VacuumAnalyze(t, pool, "subscriber_tags")
	for name, number := range map[string]func(*tag.Store) (int, error){
		"count": func(tags *tag.Store) (int, error) { return tags.Count(t.Context(), fleettest.All, domain.Listing{}) },
		"list": func(tags *tag.Store) (int, error) {
			slice, err := tags.List(t.Context(), fleettest.All, domain.Listing{Page: domain.Page{Limit: 100}})
			return len(slice.Items), err
		},
	} {
		recorded := dbtest.NewRecorder(t, pool)
		n, err := number(tag.New(recorded.Pool))
		fatal.If(t, err)
		// The height of the index, and a row whose page is not known to be visible.
		if read, most := recorded.Buffers(), 5*n; n != before+7 || read > most {
			t.Errorf("%s: %d tags from %d pages, want %d from at most %d\n%s", name, n, read, before+7, most, recorded.Plan())
		}
	}
}
