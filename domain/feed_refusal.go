package domain

import (
	"net/netip"
	"strings"
)

// FeedRefusal is a packet that was not answered, since nothing proves who sent it. What
// it states may be made up.
type FeedRefusal struct {
	// Address sent it.
	Address netip.Addr
	// NAS is the network element that it names; "" for none.
	NAS string
	// Clients are those of the address, all with another secret; none for an address
	// that no client has.
	Clients []*RADIUSClient
}

// The reasons of refusals among those of rejects.
const (
	UnknownAddress = "no client has this address"
	WrongSecret    = "the secret is not that of the client"
)

// MaxFeedRefusals bounds the refusals that are kept of a company: the newest.
const MaxFeedRefusals = 20

// AdmittingAddress is the command that makes an address a client. The name of the
// network element is a stranger's: what a shell would read is left out.
func AdmittingAddress(address netip.Addr, nas, company string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if isPlain(r) {
			return r
		}
		return '-'
	}, nas), "-.")
	if name == "" {
		name = "gateway"
	}
	return "simgraph radius client add " + name + " --network " + address.WithZone("").String() + " --company " + quoted(company)
}

// AdmittingSecret is the command that gives a client the secret of its sender.
func AdmittingSecret(client *RADIUSClient) string {
	of := quoted(client.Name)
	company := " --company " + quoted(client.Company)
	return "simgraph radius client remove " + of + company + " && simgraph radius client add " + of +
		" --network " + client.Network.String() + company + " --secret-file SECRET"
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
}

// quoted is a word of a shell.
func quoted(word string) string {
	if word != "" && !strings.HasPrefix(word, "-") && strings.IndexFunc(word, func(r rune) bool { return !isPlain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
