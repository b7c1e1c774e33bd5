package federation_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/graph/federation"
)

const subgraph = `
interface Node { id: ID! }
interface Alert implements Node { id: ID! }
type Van implements Node { id: ID! vin: String! }
type VolumeAlert implements Node & Alert { id: ID! }
type Mail implements Node { id: ID! }
type PageInfo { hasNextPage: Boolean! }
input VanKey { id: ID vin: String fleetNumber: Int }
input AlertKey { alertId: Int! }
union _Entity = Van | Mail
scalar _Any
type _Service { sdl: String! }
type Query { van(by: VanKey!): Van alert(by: AlertKey!): Alert page: PageInfo _entities(representations: [_Any!]!): [_Entity]! _service: _Service! }
`

func schema() *ast.Schema {
	return gqlparser.MustLoadSchema(&ast.Source{Name: "subgraph", Input: subgraph})
}

func TestKeysAreThoseOfTheInputsThatLookUp(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for node, keys := range federation.Keys(schema()) {
		for _, key := range keys {
			got[node] += key.Field + ":" + key.Scalar + " "
		}
	}
	if want := map[string]string{"Alert": "id:ID alertId:Int ", "Van": "id:ID vin:String fleetNumber:Int ", "VolumeAlert": "id:ID alertId:Int ", "Mail": "id:ID "}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Clients see the schema without what is for gateways, and gateways see the keys; the schema itself stays as it is.
func TestWhatIsPrintedForClientsAndForGateways(t *testing.T) {
	t.Parallel()
	of := schema()
	before := federation.Print(of)
	clients := federation.Print(federation.ForClients(of))
	for _, hidden := range []string{"_Any", "_Entity", "_Service", "_entities", "_service", "@key"} {
		if strings.Contains(clients, hidden) || !strings.Contains(before, hidden) && hidden != "@key" {
			t.Errorf("clients see %s, or it is not there:\n%s", hidden, clients)
		}
	}
	if _, err := gqlparser.LoadSchema(&ast.Source{Input: clients}); err != nil {
		t.Error(err)
	}
	sdl := federation.SDL(of)
	for _, want := range []string{
		`https://specs.apollo.dev/federation/v2.0`, `type Van implements Node @key(fields: "id") @key(fields: "vin") @key(fields: "fleetNumber")`,
		`type VolumeAlert implements Node & Alert @key(fields: "id") @key(fields: "alertId")`, `type Mail implements Node @key(fields: "id")`, `type PageInfo @shareable`,
	} {
		if !strings.Contains(sdl, want) {
			t.Errorf("the schema for gateways lacks %s:\n%s", want, sdl)
		}
	}
	if strings.Contains(sdl, "_entities") {
		t.Error("gateways are told what each of them adds by itself")
	}
	if federation.Print(of) != before {
		t.Error("the schema itself is changed")
	}
}
