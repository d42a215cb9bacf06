//go:build linux

package world

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
)

// Host is where a member or a client runs.
type Host struct {
	Address string // of its own; of a client without namespaces: 127.0.0.1

	namespace string // empty: the run's own
	port      string // the router's end of its cable
}

// Hosts is the network. Each fault of it stands beside the others and returns what
// undoes it alone, which may be called twice, and after Heal.
type Hosts struct {
	Outside          string // the address of the proxies and of the run itself
	Members, Clients []*Host

	router     string   // the namespace that all packets pass; empty: loopback
	namespaces []string // to be removed

	mu     sync.Mutex
	number int                  // of the latest fault
	undo   map[int]func() error // of the faults of the moment, by number
}

// Loopback makes hosts of addresses that every Linux has, and nobody uses.
func Loopback(members, clients int) *Hosts {
	h := &Hosts{Outside: "127.0.0.1", undo: map[int]func() error{}}
	net := fmt.Sprintf("127.%d.%d", 100+rand.N(100), 1+rand.N(250))
	for i := range members {
		h.Members = append(h.Members, &Host{Address: fmt.Sprintf("%s.%d", net, i+1)})
	}
	for range clients {
		h.Clients = append(h.Clients, &Host{Address: "127.0.0.1"})
	}
	return h
}

// namespacePrefix and the run's process id begin the name of everything that it
// puts into the kernel's network.
const namespacePrefix = "flw"

// Namespaces makes a network namespace for each host, with a cable to the router.
// What is there when it fails, Close removes.
func Namespaces(members, clients int) (h *Hosts, err error) {
	// 13 characters at most; the name of an interface may have 15.
	id := fmt.Sprintf("%s%d-%02x", namespacePrefix, os.Getpid(), rand.N(256))
	h = &Hosts{router: id + "-r", undo: map[int]func() error{}}
	net, err := freeNet()
	if err != nil {
		return h, err
	}
	if err := h.add(h.router); err != nil {
		return h, err
	}
	block := 0
	for i := range members + clients {
		host := &Host{Address: fmt.Sprintf("%s.%d", net, 4*block+2), port: fmt.Sprintf("port%d", i)}
		if i < members {
			host.namespace = fmt.Sprintf("%s-m%d", id, i+1)
			h.Members = append(h.Members, host)
		} else {
			host.namespace = fmt.Sprintf("%s-c%d", id, i-members+1)
			h.Clients = append(h.Clients, host)
		}
		if err := h.plug(host, fmt.Sprintf("%s.%d", net, 4*block+1)); err != nil {
			return h, err
		}
		block++
	}
	return h, h.plugOutside(id, net, block)
}

// freeNet is a network of 254 addresses that no interface here has. 198.18/15 is
// for benchmarks of networks, RFC 2544: nobody's.
func freeNet() (string, error) {
	routes, err := run("ip", "-4", "route", "show", "table", "all")
	if err != nil {
		return "", err
	}
	for range 1000 {
		if net := fmt.Sprintf("198.18.%d", rand.N(256)); !strings.Contains(routes, net+".") {
			return net, nil
		}
	}
	return "", errors.New("no network left in 198.18/16")
}

func (h *Hosts) add(namespace string) error {
	if err := ip("netns add %s", namespace); err != nil {
		return err
	}
	h.namespaces = append(h.namespaces, namespace)
	return nil
}

// plug gives a host the third address of a block of four; the router has the
// second.
func (h *Hosts) plug(host *Host, router string) error {
	if err := h.add(host.namespace); err != nil {
		return err
	}
	return errors.Join(
		ip("link add %s netns %s type veth peer name eth0 netns %s", host.port, h.router, host.namespace),
		ip("-n %s addr add %s/30 dev %s", h.router, router, host.port),
		ip("-n %s link set %s up", h.router, host.port),
		ip("-n %s addr add %s/30 dev eth0", host.namespace, host.Address),
		ip("-n %s link set lo up", host.namespace),
		ip("-n %s link set eth0 up", host.namespace),
		ip("-n %s route add default via %s", host.namespace, router),
	)
}

// plugOutside gives the run itself a cable, and lets the router forward packets.
func (h *Hosts) plugOutside(cable, net string, block int) error {
	router := fmt.Sprintf("%s.%d", net, 4*block+1)
	h.Outside = fmt.Sprintf("%s.%d", net, 4*block+2)
	_, err := run("ip", "netns", "exec", h.router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
	return errors.Join(err,
		ip("link add %s type veth peer name outside netns %s", cable, h.router),
		ip("addr add %s/30 dev %s", h.Outside, cable),
		ip("link set %s up", cable),
		ip("-n %s addr add %s/30 dev outside", h.router, router),
		ip("-n %s link set outside up", h.router),
		ip("route add %s.0/24 via %s", net, router),
	)
}

// Close removes the namespaces, and with them the cables.
func (h *Hosts) Close() error {
	var errs []error
	for _, name := range h.namespaces {
		errs = append(errs, ip("netns del %s", name))
	}
	h.namespaces = nil
	return errors.Join(errs...)
}
