//go:build linux

package faults

import (
	"context"
	"errors"
	"time"

	"github.com/fencelock/fencelock/test/netfault"
)

func linkKinds() []Kind {
	stall, pass := (*netfault.Proxy).Stall, (*netfault.Proxy).Pass
	return grouped("link", []string{links}, nil,
		Kind{Name: "connections are reset", Cost: sessions(aRequest), Do: resetLinks},
		Kind{Name: "the way to one member is a black hole", Cost: nothing(silence), Do: disturb(1, stall, pass)},
		Kind{Name: "the way to all members is a black hole", Cost: sessions(silence), Do: disturb(3, stall, pass)},
		Kind{Name: "replies of one member are lost", Cost: nothing(silence), Do: disturb(1, (*netfault.Proxy).DropReplies, pass)},
		Kind{Name: "replies of all members are lost", Cost: sessions(silence), Do: disturb(3, (*netfault.Proxy).DropReplies, pass)},
		Kind{Name: "requests to all members are held", Cost: sessions(silence), Do: disturb(3, (*netfault.Proxy).StallRequests, pass)},
		Kind{Name: "replies of all members are held", Cost: sessions(silence), Do: disturb(3, (*netfault.Proxy).StallReplies, pass)},
		Kind{Name: "the ways to members are slow", Cost: sessions(aRequest), Do: delay},
		Kind{Name: "requests or replies are held for a second, again and again", Cost: nothing(aRequest), Do: holdShortly},
		Kind{Name: "two members refuse connections", Cost: sessions(aRequest), Do: disturb(2, refuse, pass)},
	)
}

// disturb does something to the proxies before some members, for longer than a
// session lives.
func disturb(n int, what, undo func(*netfault.Proxy)) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		chosen := r.pickLinks(n)
		for _, p := range chosen {
			what(p)
		}
		err := r.holdLonger(ctx, r.longer())
		for _, p := range chosen {
			undo(p)
		}
		return err
	}
}

// pickLinks chooses proxies, and writes the members behind them down as victims.
func (r *Run) pickLinks(n int) []*netfault.Proxy {
	chosen := some(r, r.World.Links, n)
	for _, p := range chosen {
		for i, link := range r.World.Links {
			if link == p {
				r.victims(r.World.Members[i].Name)
			}
		}
	}
	return chosen
}

// refuse ends what there is, too.
func refuse(p *netfault.Proxy) {
	p.Refuse()
	p.Reset()
}

func resetLinks(ctx context.Context, r *Run) error {
	n := 0
	err := r.repeat(ctx, r.between(100*time.Millisecond, time.Second), func() error {
		n++
		for _, p := range r.World.Links {
			p.Reset()
		}
		return nil
	})
	r.Note("resets: %d", n)
	return err
}

// holdShortly holds what is said to one member after the other, or what it says, for
// less than a session lives. Whoever has given up meanwhile goes on, and what it had
// sent lands late, or has landed, under the same hold.
func holdShortly(ctx context.Context, r *Run) error {
	for end := time.Now().Add(2*r.longer() + r.For); time.Now().Before(end); {
		p := r.pickLinks(1)[0]
		if r.Rand.IntN(3) == 0 {
			p.StallReplies()
		} else {
			p.StallRequests()
		}
		err := wait(ctx, r.between(650*time.Millisecond, time.Second))
		p.Pass()
		if err = errors.Join(err, wait(ctx, r.between(0, 200*time.Millisecond))); err != nil {
			return err
		}
	}
	return nil
}

// delay makes each way slow by another time, less than a renewal has.
func delay(ctx context.Context, r *Run) error {
	for i, p := range r.World.Links {
		d := r.between(50*time.Millisecond, 300*time.Millisecond)
		r.Note("%s: %v", r.World.Members[i].Name, d.Round(time.Millisecond))
		p.Delay(d)
	}
	err := r.hold(ctx)
	for _, p := range r.World.Links {
		p.Pass()
	}
	return err
}
