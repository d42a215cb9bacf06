// Three hosts with addresses of their own: loopback addresses, or network
// namespaces whose links can be cut.

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// hosts is where members run.
type hosts struct {
	addresses [3]string
	prefixes  [3][]string // what runs a command there
	outside   string      // the address that clients come from
	router    string      // the namespace that all packets pass; empty: loopback
}

// loopback makes hosts of addresses that every Linux has, and nobody uses.
func loopback() *hosts {
	h := &hosts{}
	for i := range h.addresses {
		h.addresses[i] = fmt.Sprintf("127.%d.%d.%d", 100+rand.IntN(100), 1+rand.IntN(250), i+1)
	}
	return h
}

// namespaces makes a network namespace for each host, with a cable to a router,
// which is one as well. The test itself has a cable there.
func namespaces(t *testing.T) *hosts {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("network namespaces need root")
	}
	id := fmt.Sprintf("%x", rand.N(1<<20))
	net := fmt.Sprintf("198.18.%d", rand.IntN(256)) // for benchmarks of networks, RFC 2544: nobody's
	h := &hosts{router: "flr" + id, outside: net + ".14"}
	addNamespace(t, h.router)
	for i := range h.addresses {
		h.plug(t, i, fmt.Sprintf("fl%d%s", i, id), net)
	}
	cable := "flx" + id
	ip(t, "link add %s type veth peer name outside netns %s", cable, h.router)
	ip(t, "addr add %s/30 dev %s", h.outside, cable)
	ip(t, "link set %s up", cable)
	ip(t, "-n %s addr add %s.13/30 dev outside", h.router, net)
	ip(t, "-n %s link set outside up", h.router)
	ip(t, "route add %s.0/28 via %s.13", net, net)
	if out, err := exec.Command("ip", "netns", "exec", h.router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward").CombinedOutput(); err != nil {
		t.Fatalf("forward packets: %v: %s", err, out)
	}
	return h
}

// plug makes host i: the third address of its block of four; the router has the
// second.
func (h *hosts) plug(t *testing.T, i int, name, net string) {
	t.Helper()
	port := fmt.Sprintf("port%d", i)
	h.addresses[i] = fmt.Sprintf("%s.%d", net, 4*i+2)
	h.prefixes[i] = []string{"ip", "netns", "exec", name}
	addNamespace(t, name)
	ip(t, "link add %s netns %s type veth peer name eth0 netns %s", port, h.router, name)
	ip(t, "-n %s addr add %s.%d/30 dev %s", h.router, net, 4*i+1, port)
	ip(t, "-n %s link set %s up", h.router, port)
	ip(t, "-n %s addr add %s/30 dev eth0", name, h.addresses[i])
	ip(t, "-n %s link set lo up", name)
	ip(t, "-n %s link set eth0 up", name)
	ip(t, "-n %s route add default via %s.%d", name, net, 4*i+1)
}

func addNamespace(t *testing.T, name string) {
	t.Helper()
	ip(t, "netns add %s", name)
	t.Cleanup(func() {
		if out, err := exec.Command("ip", "netns", "del", name).CombinedOutput(); err != nil {
			t.Errorf("ip netns del %s: %v: %s", name, err, out)
		}
	})
}

func ip(t *testing.T, format string, args ...any) {
	t.Helper()
	words := strings.Fields(fmt.Sprintf(format, args...))
	if out, err := exec.Command("ip", words...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(words, " "), err, out)
	}
}

// lose lets the packets from one address to another vanish, in this direction.
func (h *hosts) lose(t *testing.T, from, to string) {
	t.Helper()
	ip(t, "-n %s rule add from %s to %s blackhole pref 100", h.router, from, to)
}

// deaf cuts host i off from what the other members say.
func (h *hosts) deaf(t *testing.T, i int) {
	t.Helper()
	for j, other := range h.addresses {
		if j != i {
			h.lose(t, other, h.addresses[i])
		}
	}
}

// mute keeps what host i says from the other members.
func (h *hosts) mute(t *testing.T, i int) {
	t.Helper()
	for j, other := range h.addresses {
		if j != i {
			h.lose(t, h.addresses[i], other)
		}
	}
}

// unplug pulls the cable of host i.
func (h *hosts) unplug(t *testing.T, i int) {
	t.Helper()
	h.lose(t, h.addresses[i], "0.0.0.0/0")
	h.lose(t, "0.0.0.0/0", h.addresses[i])
}

// heal lets all packets through again.
func (h *hosts) heal(t *testing.T) {
	t.Helper()
	for exec.Command("ip", "-n", h.router, "rule", "del", "pref", "100").Run() == nil {
	}
}
