package cluster

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// parseAddress makes a URL of a host:port or URL. secure is whether its side
// has a certificate: the scheme must fit, since etcd would serve http next to an
// unused certificate with no more than a warning.
func parseAddress(address string, secure bool) (url.URL, error) {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	raw := address
	if !strings.Contains(raw, "://") {
		raw = scheme + "://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return url.URL{}, fmt.Errorf("address %q: %w", address, err)
	}
	switch {
	case u.Scheme == "http" && secure:
		return url.URL{}, fmt.Errorf("address %q: http, but a certificate is configured", address)
	case u.Scheme == "https" && !secure:
		return url.URL{}, fmt.Errorf("address %q: https, but no certificate is configured", address)
	case u.Scheme != scheme:
		return url.URL{}, fmt.Errorf("address %q: the scheme must be http or https", address)
	case u.Hostname() == "" || u.Port() == "" || u.Port() == "0":
		return url.URL{}, fmt.Errorf("address %q: must have a host and a port", address)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return url.URL{}, fmt.Errorf("address %q: must be no more than scheme, host and port", address)
	}
	return url.URL{Scheme: u.Scheme, Host: canonical(u.Hostname(), u.Port())}, nil
}

// canonical is the one spelling of a host and port: members are known by their
// addresses, which etcd compares byte by byte, and an IPv6 address can be written in
// many ways.
func canonical(host, port string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String()
	}
	return net.JoinHostPort(host, port)
}

func parseAddresses(what string, addresses []string, secure bool) ([]url.URL, error) {
	urls := make([]url.URL, len(addresses))
	for i, a := range addresses {
		u, err := parseAddress(a, secure)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		urls[i] = u
	}
	return urls, nil
}

// addresses are the parsed addresses of a Config.
type addresses struct {
	listenClient, listenPeer       []url.URL
	advertiseClient, advertisePeer []url.URL
	peers                          map[string][]url.URL
}

func (c Config) addresses() (a addresses, err error) {
	client, peer := c.ClientTLS.enabled(), c.PeerTLS.enabled()
	if a.listenClient, err = parseAddresses("listen client", c.ListenClient, client); err != nil {
		return a, err
	}
	if a.listenPeer, err = parseAddresses("listen peer", c.ListenPeer, peer); err != nil {
		return a, err
	}
	if a.advertiseClient, err = parseAddresses("advertise client", c.AdvertiseClient, client); err != nil {
		return a, err
	}
	if a.advertisePeer, err = parseAddresses("advertise peer", c.AdvertisePeer, peer); err != nil {
		return a, err
	}
	a.peers = make(map[string][]url.URL, len(c.InitialCluster))
	for name, list := range c.InitialCluster {
		if a.peers[name], err = parseAddresses("peer "+name, list, peer); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (c Config) checkAddresses() error {
	a, err := c.addresses()
	if err != nil {
		return err
	}
	return errors.Join(
		checkListen("listen client", a.listenClient),
		checkListen("listen peer", a.listenPeer),
		checkAdvertise("advertise client", a.advertiseClient),
		checkAdvertise("advertise peer", a.advertisePeer),
	)
}

func checkListen(what string, urls []url.URL) error {
	for _, u := range urls {
		if u.Hostname() != "localhost" && net.ParseIP(u.Hostname()) == nil {
			return fmt.Errorf("%s: %q: must be an IP address of this host, or localhost", what, u.Host)
		}
	}
	return nil
}

func checkAdvertise(what string, urls []url.URL) error {
	for _, u := range urls {
		if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
			return fmt.Errorf("%s: %q: nobody can dial it; name an address of this host that others reach", what, u.Host)
		}
	}
	return nil
}

// checkInitialCluster holds the members' view of this one to its own: etcd makes
// member and cluster ids of these addresses, and would look up their host
// names for up to 30 s if they differed.
func (c Config) checkInitialCluster() error {
	a, err := c.addresses()
	if err != nil {
		return nil // reported by checkAddresses
	}
	own, ok := a.peers[c.Name]
	if !ok {
		return fmt.Errorf("initial cluster: no member %q in it", c.Name)
	}
	if got, want := sorted(a.advertisePeer), sorted(own); !slices.Equal(got, want) {
		return fmt.Errorf("initial cluster: member %q is at %v there, but advertises %v", c.Name, want, got)
	}
	return checkDistinct(a.peers)
}

func checkDistinct(peers map[string][]url.URL) error {
	seen := map[string]string{}
	for name, urls := range peers {
		if len(urls) == 0 {
			return fmt.Errorf("initial cluster: member %q has no address", name)
		}
		for _, s := range sorted(urls) {
			if other, ok := seen[s]; ok {
				return fmt.Errorf("initial cluster: %s is given for %q and for %q", s, other, name)
			}
			seen[s] = name
		}
	}
	return nil
}

// sorted returns the text of urls in order.
func sorted(urls []url.URL) []string {
	list := texts(urls)
	slices.Sort(list)
	return list
}

func texts(urls []url.URL) []string {
	list := make([]string, len(urls))
	for i, u := range urls {
		list[i] = u.String()
	}
	return list
}

// beyondLoopback returns those of urls that other hosts can reach.
func beyondLoopback(urls []url.URL) []string {
	var list []string
	for _, u := range urls {
		ip := net.ParseIP(u.Hostname())
		if u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			list = append(list, u.String())
		}
	}
	return list
}
