package config

import (
	"net"
	"net/netip"
)

// HealthAddress is where a command on the member's own host asks for its health,
// host:port; empty: nowhere.
func (s Server) HealthAddress() string {
	address, _ := s.metrics()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address // settings are checked when they are read
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil || !ip.IsUnspecified():
		return address
	case ip.Is4():
		return net.JoinHostPort("127.0.0.1", port)
	}
	return net.JoinHostPort("::1", port)
}
