package plan

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

func FuzzStringsAreWrittenAsGqlgenDoes(f *testing.F) {
	for _, text := range []string{"", "a", "é\"\\/", "\x00\x1f\t\r\n\b\f", "\u2028<>&", "\xff broken", "end\\"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want bytes.Buffer
		graphql.MarshalString(text).MarshalGQL(&want)
		if got := AppendString(nil, text); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%q: got %s, want %s", text, got, want.Bytes())
		}
	})
}

func FuzzFloatsAreWrittenAsGqlgenDoes(f *testing.F) {
	for _, v := range []float64{0, 1, -1.5, 0.1, 1e6, 1e20, 1e21, 1e-4, 1e-5, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		var want bytes.Buffer
		if graphql.MarshalFloatContext(v).MarshalGQLContext(context.Background(), &want) != nil {
			return
		}
		if got := AppendFloat(nil, v); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("got %s, want %s", got, want.Bytes())
		}
	})
}

func TestGqlgensMarshalersAreHeeded(t *testing.T) {
	if b, ok := Marshal([]byte("a:"), graphql.MarshalTime(time.Time{})); ok || string(b) != "a:" {
		t.Errorf("a null marshaler wrote %s", b)
	}
	if b, ok := Marshal([]byte("a:"), graphql.MarshalInt(7)); !ok || string(b) != "a:7" {
		t.Errorf("got %s", b)
	}
}
