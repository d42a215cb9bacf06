package config

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// ParseAddress reads a host:port or URL, with nothing behind it; the scheme is empty
// if none was given.
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
	case u.Hostname() == "" || err != nil || port == 0:
		return nil, fmt.Errorf("%q: want a host and a port, as in 10.0.0.1:2379", address)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return nil, fmt.Errorf("%q: want host and port and nothing more", address)
	}
	return u, nil
}
