//go:build linux

package world

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// Everywhere is every address, for Lose and Reset.
const Everywhere = "0.0.0.0/0"

// firstPreference is the place of the first fault among the router's rules: before
// those of the routing tables, which are at 32766.
const firstPreference = 100

// Lose lets the packets from one address to another vanish, in this direction.
func (h *Hosts) Lose(from, to string) (undo func() error, err error) {
	if h.router == "" {
		return nil, errors.ErrUnsupported
	}
	n := h.next()
	if err := ip("-n %s rule add from %s to %s blackhole pref %d", h.router, from, to, firstPreference+n); err != nil {
		return nil, err
	}
	return h.keep(n, func() error { return ip("-n %s rule del pref %d", h.router, firstPreference+n) }), nil
}

// LoseShare lets so many of a hundred packets vanish, at random, between all hosts.
func (h *Hosts) LoseShare(percent int) (undo func() error, err error) {
	return h.filter("numgen", "random", "mod", "100", "<", fmt.Sprint(percent), "drop")
}

// Reset answers what one address sends to another with TCP resets.
func (h *Hosts) Reset(from, to string) (undo func() error, err error) {
	return h.filter("ip", "saddr", from, "ip", "daddr", to, "meta", "l4proto", "tcp", "reject", "with", "tcp", "reset")
}

// Slow gives the cable of a host so many kbit/s, in each direction.
func (h *Hosts) Slow(host *Host, kbit int) (undo func() error, err error) {
	if h.router == "" {
		return nil, errors.ErrUnsupported
	}
	ends := [][]string{{h.router, host.port}, {host.namespace, "eth0"}}
	off := func() error {
		var errs []error
		for _, end := range ends {
			_, err := run("tc", "-n", end[0], "qdisc", "del", "dev", end[1], "root")
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
	for _, end := range ends {
		// A bucket of 16 kB holds ten packets; what waits longer than 400 ms is dropped.
		if _, err := run("tc", "-n", end[0], "qdisc", "add", "dev", end[1], "root", "tbf",
			"rate", fmt.Sprintf("%dkbit", kbit), "burst", "16kb", "latency", "400ms"); err != nil {
			_ = off() // of the end that is slow already, if any
			return nil, err
		}
	}
	return h.keep(h.next(), off), nil
}

// Heal undoes every fault.
func (h *Hosts) Heal() error {
	h.mu.Lock()
	var numbers []int
	for n := range h.undo {
		numbers = append(numbers, n)
	}
	h.mu.Unlock()
	slices.Sort(numbers)
	var errs []error
	for _, n := range numbers {
		errs = append(errs, h.take(n))
	}
	return errors.Join(errs...)
}

func (h *Hosts) next() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.number++
	return h.number
}

// keep remembers what undoes a fault, and returns what undoes it once.
func (h *Hosts) keep(n int, undo func() error) func() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.undo[n] = undo
	return func() error { return h.take(n) }
}

// take undoes a fault, unless it is undone.
func (h *Hosts) take(n int) error {
	h.mu.Lock()
	undo := h.undo[n]
	delete(h.undo, n)
	h.mu.Unlock()
	if undo == nil {
		return nil
	}
	return undo()
}

// filter adds a rule for the packets that the router forwards.
func (h *Hosts) filter(rule ...string) (undo func() error, err error) {
	if h.router == "" {
		return nil, errors.ErrUnsupported
	}
	if err := h.openFilter(); err != nil {
		return nil, err
	}
	out, err := h.nft(append([]string{"--echo", "--handle", "add", "rule", "ip", "faults", "forward"}, rule...)...)
	if err != nil {
		return nil, err
	}
	found := regexp.MustCompile(`# handle (\d+)`).FindStringSubmatch(out)
	if found == nil {
		return nil, fmt.Errorf("nft names no handle: %q", out)
	}
	return h.keep(h.next(), func() error {
		_, err := h.nft("delete", "rule", "ip", "faults", "forward", "handle", found[1])
		return err
	}), nil
}

// openFilter makes the chain of those rules; it may be there.
func (h *Hosts) openFilter() error {
	_, tableErr := h.nft("add", "table", "ip", "faults")
	_, chainErr := h.nft("add", "chain", "ip", "faults", "forward", "{ type filter hook forward priority 0 ; }")
	return errors.Join(tableErr, chainErr)
}

func (h *Hosts) nft(words ...string) (string, error) {
	return run(append([]string{"ip", "netns", "exec", h.router, "nft"}, words...)...)
}
