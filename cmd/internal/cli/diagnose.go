package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/fencelock/fencelock/client"
)

// longestChain bounds how far waits are followed from lock to lock.
const longestChain = 20

// diagnose says what is unusual about the claims themselves.
func (i *inspection) diagnose() {
	for _, h := range i.Holders {
		i.diagnoseHolder(h)
	}
	for _, w := range i.Waiters {
		if w.State == sessionNone {
			i.find("the waiting claim %s has no lease, so it never ends by itself: if nobody owns it, fencelock break %s --token %v", visible(w.Key), visible(i.Name), w.Token)
		}
	}
	if f := i.Fence; f != nil && len(i.Holders) > 0 {
		if h := i.Holders[0]; f.Token > h.Token || f.State == fenceClosed && f.Token == h.Token {
			i.find("the fence is above the holder's token %v: its reads and writes in the fenced store are refused", h.Token)
		}
	}
}

// diagnoseHolder: a session is renewed every third of its TTL, so that it never
// has less than about two thirds left while all is well.
func (i *inspection) diagnoseHolder(h claim) {
	switch {
	case h.State == sessionNone:
		i.find("the holder's claim %s has no lease, so it never ends by itself: if nobody owns it, fencelock break %s --token %v", visible(h.Key), visible(i.Name), h.Token)
	case h.State == sessionEnded:
		i.find("the session of %s has ended; its claim goes within about a second", h.who())
	case h.State == sessionAlive && h.Left < h.TTL/2:
		i.find("%s has not renewed its session for about %d s: it is paused, dead or cut off; the lock is free in about %d s if that goes on", h.who(), h.TTL-h.Left, h.Left)
	case h.State == sessionAlive && len(i.Waiters) > 0:
		i.find("%s is alive and renews its session: it works, or hangs; others wait until it is done, or somebody breaks the lock", h.who())
	}
}

func (i *inspection) find(format string, args ...any) {
	i.Findings = append(i.Findings, fmt.Sprintf(format, args...))
}

// wait is one session waiting in one queue.
type wait struct {
	session string // its lease
	owner   string
	lock    string
	behind  []claim // who holds there
}

// followWaits follows the holders: whom do they wait for themselves, and do those
// wait for somebody in turn? It needs to see every lock; without the right to, it
// says nothing.
func (i *inspection) followWaits(ctx context.Context, c *client.Client) {
	waits := map[string][]wait{}
	for info, err := range c.Locks(ctx, "") {
		if err != nil {
			return
		}
		for _, w := range info.Waiters {
			one := claimOf(w)
			waits[one.Lease] = append(waits[one.Lease], wait{one.Lease, one.who(), info.Name, claimsOf(info.Holders)})
		}
	}
	for _, h := range i.Holders {
		if h.State == sessionNone {
			continue
		}
		if chain := longest(waits, h.Lease, nil); len(chain) > 0 {
			i.report(chain)
			return
		}
	}
}

// longest finds a chain of waits from a session, one that closes to a circle
// rather than one that does not, else the longest.
func longest(waits map[string][]wait, session string, before []wait) []wait {
	if len(before) == longestChain || slices.ContainsFunc(before, func(w wait) bool { return w.session == session }) {
		return before
	}
	best := before
	for _, w := range waits[session] {
		for _, h := range w.behind {
			chain := longest(waits, h.Lease, append(slices.Clone(before), wait{w.session, w.owner, w.lock, []claim{h}}))
			switch {
			case circular(chain):
				return chain
			case len(chain) > len(best):
				best = chain
			}
		}
	}
	return best
}

// circular reports whether the last of a chain waits for one of its sessions.
func circular(chain []wait) bool {
	if len(chain) == 0 {
		return false
	}
	end := chain[len(chain)-1].behind[0].Lease
	return slices.ContainsFunc(chain, func(w wait) bool { return w.session == end })
}

func (i *inspection) report(chain []wait) {
	for _, w := range chain {
		i.find("%s waits for %s, which %s holds with token %v", w.owner, visible(w.lock), w.behind[0].who(), w.behind[0].Token)
	}
	if !circular(chain) {
		return
	}
	last := chain[len(chain)-1]
	end := last.behind[0].Lease
	for _, w := range chain[slices.IndexFunc(chain, func(w wait) bool { return w.session == end }):] {
		i.Deadlock = append(i.Deadlock, w.owner)
	}
	i.find("these sessions wait for each other and nobody will ever be done, unless one of them gives up or has other work in the same session: fencelock break %s --token %v",
		visible(last.lock), last.behind[0].Token)
}
