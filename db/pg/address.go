package pg

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"simgraph/domain/ascii"
)

// CheckAddress returns an error when an address of a database cannot be one of
// PostgreSQL. It connects to nothing.
func CheckAddress(address string) error {
	_, err := parse(address)
	return err
}

// Place names the server of an address without credentials; "" where the address is
// none. Of several hosts it names all.
func Place(address string) string {
	cfg, err := parse(address)
	if err != nil {
		return ""
	}
	return place(cfg)
}

// parse reads an address. No error holds a part of it that may be a password.
func parse(address string) (pq.Config, error) {
	address, err := Spread(address)
	if err != nil {
		return pq.Config{}, err
	}
	cfg, err := pq.NewConfig(address)
	if err != nil {
		// The text of a url.Error holds the whole address, password and all.
		if bad, ok := errors.AsType[*url.Error](err); ok {
			err = bad.Err
		}
		return cfg, fmt.Errorf("the database address: %w", err)
	}
	return cfg, nil
}

var errAddress = errors.New("it is to be postgres://user:password@host:5432/database, or host=… user=… dbname=…")

// Spread returns the address in the form that the driver, the programs of PostgreSQL and
// url.Parse take: with several hosts, they and their ports are parameters. Other addresses
// stay as they are.
func Spread(address string) (string, error) {
	address, err := spread(address)
	if err != nil {
		return "", fmt.Errorf("the database address: %w", err)
	}
	return address, nil
}

// spread returns the address with the ports of several hosts in the parameter port,
// which is how the driver takes them: postgres://one:5432,two:5433/simgraph is one of
// libpq. It refuses what is no address of PostgreSQL.
func spread(address string) (string, error) {
	scheme, rest, isURL := strings.Cut(address, "://")
	switch {
	case !isURL && !strings.Contains(address, "="):
		return "", errAddress
	case !isURL, strings.ContainsAny(scheme, "= '"): // pairs, of which a value has ://
		return address, nil
	}
	if of := ascii.Lower(scheme); of != "postgres" && of != "postgresql" {
		return "", fmt.Errorf("%s:// is not PostgreSQL: %w", scheme, errAddress)
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority, path := rest[:end], rest[end:]
	at := strings.LastIndexByte(authority, '@') + 1
	hosts := strings.Split(authority[at:], ",")
	if len(hosts) == 1 {
		return address, nil
	}
	names, ports := make([]string, len(hosts)), make([]string, len(hosts))
	for i, host := range hosts {
		name, port := host, ""
		if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
			name, port = host[:colon], host[colon+1:]
		}
		names[i], ports[i] = strings.Trim(name, "[]"), cmp.Or(port, "5432")
	}
	path, query, _ := strings.Cut(path, "?")
	given, err := url.ParseQuery(query)
	if err != nil {
		return "", err
	}
	if !given.Has("host") {
		given.Set("host", strings.Join(names, ","))
	}
	if !given.Has("port") {
		given.Set("port", strings.Join(ports, ","))
	}
	return scheme + "://" + authority[:at] + path + "?" + given.Encode(), nil
}

// place names the servers for error messages, without credentials.
func place(cfg pq.Config) string {
	places := []string{placeOf(cfg.Host, cfg.Hostaddr, cfg.Port)}
	for _, other := range cfg.Multi {
		places = append(places, placeOf(other.Host, other.Hostaddr, other.Port))
	}
	return strings.Join(places, ",")
}

func placeOf(host string, address netip.Addr, port uint16) string {
	if address.IsValid() {
		host = address.String()
	}
	if isSocket(host) {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// isSocket reports whether a host is the directory of a socket.
func isSocket(host string) bool { return filepath.IsAbs(host) }
