package condition

import (
	"slices"

	"simgraph/domain"
)

// remembered is how many values of a trait are known. One that comes back among them is
// no change: devices at a border would fire by the hour otherwise.
const remembered = 4

// imeiSize is the part of an IMEI that names the device.
const imeiSize = 14

// Values are those of the traits of a subscriber; a trait that is not reported is missing.
type Values map[Trait]string

// NewValues returns the values that a session reports.
func NewValues(imei, address, network, protocol string) Values {
	values := Values{}
	for trait, value := range map[Trait]string{
		IMEI: imei[:min(len(imei), imeiSize)], Address: address, Network: network, Country: countryOf(network), Protocol: protocol,
	} {
		if value != "" {
			values[trait] = value
		}
	}
	return values
}

func countryOf(network string) string {
	if country := domain.CountryOf(network); country != nil {
		return country.Name
	}
	return ""
}

// Known are the values of a trait that are known, the current one first.
type Known []string

// Learn returns the known values with another current one, and reports whether that is
// a change. The first value is learned, and one among the last few comes back.
func (k Known) Learn(value string) (Known, bool) {
	if at := slices.Index(k, value); at >= 0 {
		return slices.Insert(slices.Delete(slices.Clone(k), at, at+1), 0, value), false
	}
	learned := slices.Insert(slices.Clone(k), 0, value)
	return learned[:min(len(learned), remembered)], len(k) > 0
}
