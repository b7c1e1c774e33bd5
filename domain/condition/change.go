package condition

import (
	"slices"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

const (
	// remembered is how many values of a trait are known. One that comes back among them
	// is no change: devices at a border would fire by the hour otherwise.
	remembered = 4
	// imeiSize is the part of an IMEI that names the device.
	imeiSize = 14
	// bearers bounds the APNs of which addresses are known, IPv4 and IPv6 apart.
	bearers = 8
)

// Known are the values of a trait that are known, the current one first.
type Known []string

// Learn returns the known values with another current one, and reports whether that is
// a change. The first value is learned, and one among the last few comes back.
func (k Known) Learn(value string) (Known, bool) {
	learned, isNew := k.first(value, remembered)
	return learned, isNew && len(k) > 0
}

// first returns the values with one at their front, and reports whether it is new.
func (k Known) first(value string, most int) (Known, bool) {
	if at := slices.Index(k, value); at >= 0 {
		return slices.Insert(slices.Delete(slices.Clone(k), at, at+1), 0, value), false
	}
	all := slices.Insert(slices.Clone(k), 0, value)
	return all[:min(len(all), most)], true
}

// Report is what a session of a subscriber stated; "" is what it did not.
type Report struct {
	SubscriberKey int64
	At            time.Time
	// APN is that of the bearer which has the address.
	APN, IMEI, Address, Network, Protocol string
}

// values are those of the traits that are reported.
func (r *Report) values() map[Trait]string {
	return map[Trait]string{
		IMEI: r.IMEI[:min(len(r.IMEI), imeiSize)], Address: r.Address, Network: r.Network, Country: countryOf(r.Network), Protocol: r.Protocol,
	}
}

func countryOf(network string) string {
	if country := domain.CountryOf(network); country != nil {
		return country.Name
	}
	return ""
}

// Memory has the values of a subscriber that are known, by the trait; those of Address by
// the bearer, since a second one is no change of the first.
type Memory map[string]Known

const (
	bearerPrefix = "address of "
	// knownBearers is the place of the bearers, that with the newest address first.
	knownBearers = "bearers"
)

// bearer is the place of the addresses of an APN, of the family of this one.
func (r *Report) bearer() string {
	family := "IPv4 "
	if strings.Contains(r.Address, ":") {
		family = "IPv6 "
	}
	return bearerPrefix + family + ascii.Lower(r.APN)
}

// place is where the values of a trait are.
func (m Memory) place(of Trait, r *Report) string {
	if of != Address {
		return string(of)
	}
	bearer, before := r.bearer(), m[knownBearers]
	all, isNew := before.first(bearer, bearers)
	if m[knownBearers] = all; isNew && len(before) == bearers {
		delete(m, before[bearers-1])
	}
	return bearer
}

// Values are the known values of a trait, of all bearers.
func (m Memory) Values(of Trait) (values Known) {
	if of != Address {
		return m[string(of)]
	}
	for _, bearer := range m[knownBearers] {
		for _, value := range m[bearer] {
			if !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
	}
	return values
}

// Changed is another value of a subscriber.
type Changed struct {
	*Report
	Trait         Trait
	Before, After string
}

// Learn adds what is reported to what is known, and returns what changed.
func (m Memory) Learn(r *Report) (changes []Changed) {
	values := r.values()
	for _, trait := range Traits {
		value := values[trait]
		if value == "" {
			continue
		}
		place := m.place(trait, r)
		before := m[place]
		learned, is := before.Learn(value)
		if m[place] = learned; is {
			changes = append(changes, Changed{r, trait, before[0], value})
		}
	}
	return changes
}
