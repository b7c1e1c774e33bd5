package radius

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"

	"simgraph/domain"
)

// controlSize holds the address that a packet came to, in the form of the system.
const controlSize = 128

// socket is a socket of a listener. One for all addresses of the host answers from
// the address that was asked: a sender drops an answer of another.
type socket struct {
	conn *net.UDPConn
	// every is set for a socket of all addresses.
	every bool
	is4   bool
}

// peer is who sent a packet, and how to answer it.
type peer struct {
	netip.AddrPort
	socket *socket
	// asked is the address that the packet came to, where the socket has several.
	asked netip.Addr
}

func openSocket(at netip.AddrPort) (*socket, error) {
	s := &socket{every: at.Addr().IsUnspecified(), is4: at.Addr().Is4()}
	network := "udp6" // for IPv6 alone
	if s.is4 {
		network = "udp4"
	}
	var err error
	if s.conn, err = net.ListenUDP(network, net.UDPAddrFromAddrPort(at)); err != nil {
		return nil, err
	}
	_ = s.conn.SetReadBuffer(receiveBuffer) // the kernel grants what it is configured for
	switch {
	case s.every && s.is4:
		err = ipv4.NewPacketConn(s.conn).SetControlMessage(ipv4.FlagDst, true)
	case s.every:
		err = ipv6.NewPacketConn(s.conn).SetControlMessage(ipv6.FlagDst, true)
	}
	if err != nil {
		_ = s.conn.Close()
		return nil, err
	}
	return s, nil
}

func (s *socket) addr() netip.AddrPort {
	at := s.conn.LocalAddr().(*net.UDPAddr).AddrPort() //nolint:forcetypeassert // the address of a UDP socket
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// read reads a packet.
func (s *socket) read(buffer, control []byte) (int, peer, error) {
	if !s.every {
		n, from, err := s.conn.ReadFromUDPAddrPort(buffer)
		return n, s.peer(from, netip.Addr{}), err
	}
	n, size, _, from, err := s.conn.ReadMsgUDPAddrPort(buffer, control)
	if err != nil {
		return n, peer{}, err
	}
	return n, s.peer(from, s.askedOf(control[:size])), nil
}

func (s *socket) peer(from netip.AddrPort, asked netip.Addr) peer {
	return peer{netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), s, asked}
}

// askedOf reads the address that a packet came to.
func (s *socket) askedOf(control []byte) netip.Addr {
	var asked net.IP
	if s.is4 {
		var m ipv4.ControlMessage
		_ = m.Parse(control)
		asked = m.Dst
	} else {
		var m ipv6.ControlMessage
		_ = m.Parse(control)
		asked = m.Dst
	}
	address, _ := netip.AddrFromSlice(asked)
	return address.Unmap()
}

// answer sends an answer from the address that was asked.
func (p *peer) answer(b []byte) error {
	if !p.asked.IsValid() {
		_, err := p.socket.conn.WriteToUDPAddrPort(b, p.AddrPort)
		return err
	}
	var control []byte
	if p.socket.is4 {
		control = (&ipv4.ControlMessage{Src: p.asked.AsSlice()}).Marshal()
	} else {
		control = (&ipv6.ControlMessage{Src: p.asked.AsSlice()}).Marshal()
	}
	_, _, err := p.socket.conn.WriteMsgUDPAddrPort(b, control, p.AddrPort)
	return err
}

// resolve returns the addresses that names and addresses stand for. [::] and an
// empty host stand for those of IPv4, too.
func resolve(ctx context.Context, addresses []string) ([]netip.AddrPort, error) {
	var found []netip.AddrPort
	for _, address := range addresses {
		host, port, err := net.SplitHostPort(address)
		number, badPort := strconv.ParseUint(port, 10, 16)
		if err != nil || badPort != nil {
			return nil, domain.Invalid("radius-addr", "an address is written as 10.0.0.5:1813, [::1]:1813 or gateway.example:1813, not %q", address)
		}
		hosts, err := addressesOf(ctx, host)
		if err != nil {
			return nil, domain.Invalid("radius-addr", "%q is no address and no name of this host: %v", host, err)
		}
		for _, at := range hosts {
			if p := netip.AddrPortFrom(at, uint16(number)); !slices.Contains(found, p) {
				found = append(found, p)
			}
		}
	}
	return found, nil
}

func addressesOf(ctx context.Context, host string) ([]netip.Addr, error) {
	every := []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()}
	if host == "" {
		return every, nil
	}
	if at, err := netip.ParseAddr(host); err == nil {
		if at == netip.IPv6Unspecified() {
			return every, nil
		}
		return []netip.Addr{at.Unmap()}, nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for i, at := range found {
		found[i] = at.Unmap()
	}
	return found, err
}
