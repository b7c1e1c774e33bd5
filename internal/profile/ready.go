package profile

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"simgraph/domain/source"
)

//go:embed ready/*.json
var files embed.FS

// Ready returns the profiles that come with the program, by name.
var Ready = sync.OnceValue(func() []*Compiled {
	entries, _ := files.ReadDir("ready")
	var all []*Compiled
	for _, entry := range entries {
		text, _ := files.ReadFile("ready/" + entry.Name())
		var p source.Profile
		err := json.Unmarshal(text, &p)
		if err == nil {
			var c *Compiled
			if c, err = Compile(p); err == nil {
				all = append(all, c)
			}
		}
		if err != nil {
			panic(fmt.Sprintf("the ready profile %s: %v", entry.Name(), err)) // a test reads them
		}
	}
	slices.SortFunc(all, func(x, y *Compiled) int { return strings.Compare(x.Name, y.Name) })
	return all
})

// ReadyProfiles are the same, as they are written.
func ReadyProfiles() []*source.Profile {
	var all []*source.Profile
	for _, c := range Ready() {
		all = append(all, &c.Profile)
	}
	return all
}
