package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// prefix begins the variables of simgraph.
const prefix = "SIMGRAPH_"

// orchestrated are variables that Kubernetes and Docker set for a service of that name.
var orchestrated = regexp.MustCompile(`^SIMGRAPH_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// UnknownVariable is one that looks like a setting and is none.
type UnknownVariable struct {
	Name string
	// Meant is the setting that it was most likely to be; "" where none is like it.
	Meant string
}

// String describes the variable on a line.
func (v UnknownVariable) String() string {
	if v.Meant == "" {
		return fmt.Sprintf("the variable %s is no setting of simgraph", v.Name)
	}
	return fmt.Sprintf("the variable %s is no setting of simgraph: is %s meant?", v.Name, v.Meant)
}

// Unknown returns the variables of an environment, as os.Environ returns it, that begin as settings do, or are written almost like
// one, and set nothing.
func Unknown(environ, known []string) []UnknownVariable {
	var found []UnknownVariable
	for _, one := range environ {
		name, _, _ := strings.Cut(one, "=")
		if slices.Contains(known, name) || orchestrated.MatchString(name) {
			continue
		}
		meant := nearest(name, known)
		if meant != "" || strings.HasPrefix(name, prefix) {
			found = append(found, UnknownVariable{name, meant})
		}
	}
	slices.SortFunc(found, func(a, b UnknownVariable) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// misspelt is in how many letters a name may differ from that of a setting and still
// be meant for it.
const misspelt = 2

// nearest returns the setting of which a name is a misspelling.
func nearest(name string, settings []string) (meant string) {
	least := misspelt + 1
	for _, known := range settings {
		if !strings.HasPrefix(known, prefix) || max(len(known), len(name))-min(len(known), len(name)) > misspelt {
			continue
		}
		// Of a short name many others differ in a letter or two.
		if d := distance(name, known); d < least && d <= (len(known)-len(prefix))/4 {
			least, meant = d, known
		}
	}
	return meant
}

// distance is in how many letters two texts differ, by Levenshtein.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
