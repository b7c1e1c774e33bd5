package rest_test

import (
	"fmt"
	"testing"

	"simgraph/export"
	"simgraph/internal/fatal"
	"simgraph/rest"
)

// Each export is described, and takes the examples of its parameters.
func TestTheContractDescribesTheExports(t *testing.T) {
	t.Parallel()
	if rest.ExportPrefix != export.Prefix {
		t.Fatalf("%s is documented, %s is served", rest.ExportPrefix, export.Prefix)
	}
	for _, name := range export.Exports {
		item := contract(t).Paths.Find(rest.ExportPrefix + name)
		if item == nil {
			t.Errorf("%s is not documented", name)
			continue
		}
		examples := map[string]string{}
		for _, parameter := range item.Get.Parameters {
			examples[parameter.Value.Name] = fmt.Sprint(parameter.Value.Example)
		}
		for _, media := range export.MediaTypes {
			if item.Get.Responses.Status(200).Value.Content.Get(media) == nil {
				t.Errorf("%s has no %s", name, media)
			}
		}
		request := export.Request{Export: name, Format: examples["format"]}
		fatal.If(t, request.Read(func(parameter string) string { return examples[parameter] }))
		if request.Filter == nil {
			t.Errorf("the example of %s has no filter", name)
		}
	}
}
