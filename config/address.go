package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// ParseAddress reads a host:port or URL, with nothing behind it; the scheme is empty
// if none was given. The host is in the one spelling that all members have to agree
// on, see canonical.
func ParseAddress(address string) (*url.URL, error) {
	raw := address
	if !strings.Contains(raw, "://") {
		raw = "//" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%q: want host:port or a URL", address)
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	switch {
	case u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q: want http or https, or no scheme", address)
	case strings.Contains(u.Host, "::") && !strings.HasPrefix(u.Host, "["):
		return nil, fmt.Errorf("%q: want an IPv6 address in brackets, as in [fd00::1]:2379", address)
	case u.Hostname() == "" || err != nil || port == 0:
		return nil, fmt.Errorf("%q: want a host and a port, as in 10.0.0.1:2379", address)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return nil, fmt.Errorf("%q: want host and port and nothing more", address)
	}
	u.Host = net.JoinHostPort(canonical(u.Hostname()), strconv.FormatUint(port, 10))
	return u, nil
}

// at returns address with another host and port.
func at(address *url.URL, hostPort string) string {
	if address.Scheme == "" {
		return hostPort
	}
	return address.Scheme + "://" + hostPort
}

// canonical is the one spelling of a host: members are known by their addresses, which
// are compared byte by byte, and an IPv6 address can be written in many ways.
func canonical(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return strings.ToLower(host)
}
