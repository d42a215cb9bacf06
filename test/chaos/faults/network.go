//go:build linux

package faults

import (
	"context"
	"errors"
	"time"

	"github.com/fencelock/fencelock/test/chaos/world"
)

func networkKinds() []Kind {
	return grouped("network", []string{network}, []string{namespaces},
		Kind{Name: "the leader is cut off", Cost: sessions(aRequest), Do: cut(leader, hearing, speaking)},
		Kind{Name: "the leader hears nobody", Cost: sessions(aRequest), Do: cut(leader, hearing)},
		Kind{Name: "the leader is not heard", Cost: sessions(aRequest), Do: cut(leader, speaking)},
		Kind{Name: "a follower is cut off", Cost: nothing(noticed), Do: cut(follower, hearing, speaking)},
		Kind{Name: "a follower hears nobody", Cost: nothing(noticed), Do: cut(follower, hearing)},
		Kind{Name: "a follower is not heard", Cost: nothing(noticed), Do: cut(follower, speaking)},
		Kind{Name: "every member is alone", Cost: sessions(aStart + aRequest), Do: cut(everyMember, hearing)},
		Kind{Name: "two members do not reach each other", Cost: nothing(aRequest), Do: bridge},
		Kind{Name: "the leader's cable is pulled", Cost: sessions(silence), Do: cut(leader, cable)},
		Kind{Name: "the network resets what members say to the leader", Cost: sessions(aRequest), Do: resetLeader},
		Kind{Name: "a client is cut off", Cost: sessions(ttl), Do: cutClient(listening, asking)},
		Kind{Name: "a client hears nobody", Cost: sessions(ttl), Do: cutClient(listening)},
		Kind{Name: "a client is not heard", Cost: sessions(ttl), Do: cutClient(asking)},
		Kind{Name: "a follower is heard late, again and again", Cost: sessions(aRequest), Do: hearLate},
		Kind{Name: "one packet in five is lost", Cost: sessions(silence), Do: loseShare},
		Kind{Name: "the leader's cable is slow", Cost: sessions(silence), Do: slowCable},
	)
}

// way is a direction between two addresses.
type way struct{ from, to string }

// hearing is the ways from the other members to one.
func hearing(r *Run, m *world.Member) []way {
	var ways []way
	for _, other := range r.others(m) {
		ways = append(ways, way{other.Host.Address, m.Host.Address})
	}
	return ways
}

// speaking is the ways from one member to the others.
func speaking(r *Run, m *world.Member) []way {
	var ways []way
	for _, other := range r.others(m) {
		ways = append(ways, way{m.Host.Address, other.Host.Address})
	}
	return ways
}

// cable is every way from and to a member, those of clients too.
func cable(_ *Run, m *world.Member) []way {
	return []way{{m.Host.Address, world.Everywhere}, {world.Everywhere, m.Host.Address}}
}

// listening is the way from all members to a client, asking the one from it to them:
// the proxies stand between.
func listening(r *Run, c *world.Client) way { return way{r.World.Hosts.Outside, c.Host.Address} }
func asking(r *Run, c *world.Client) way    { return way{c.Host.Address, r.World.Hosts.Outside} }

// cut closes some ways of members, for longer than an election and a session take.
func cut(choose pickMembers, closed ...func(*Run, *world.Member) []way) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		victims, err := r.pick(ctx, choose)
		if err != nil {
			return err
		}
		var ways []way
		for _, m := range victims {
			for _, of := range closed {
				ways = append(ways, of(r, m)...)
			}
		}
		return r.lose(ctx, ways)
	}
}

// hearLate holds back what a follower says to the members, for half a second each time.
// A request that a client has sent to it, and given up, then lands late, while the client
// goes on with the others under the same hold.
func hearLate(ctx context.Context, r *Run) error {
	victims, err := r.pick(ctx, follower) // always the same: two whose words are still to be sent again would leave no majority
	if err != nil {
		return err
	}
	n := 0
	for end := time.Now().Add(2*r.longer() + r.For); time.Now().Before(end); n++ {
		undo, err := undoable(speaking(r, victims[0]), func(w way) (func() error, error) { return r.World.Hosts.Lose(w.from, w.to) })
		if err == nil {
			err = wait(ctx, r.between(450*time.Millisecond, 600*time.Millisecond)) // TCP sends again after 0.2 s, 0.6 s, 1.4 s
		}
		if err = errors.Join(err, undo(), wait(ctx, r.between(300*time.Millisecond, 450*time.Millisecond))); err != nil {
			return err
		}
	}
	r.Note("%d times", n)
	return r.settle(ctx)
}

// bridge leaves two members a third one between them that both reach.
func bridge(ctx context.Context, r *Run) error {
	victims, err := r.pick(ctx, two)
	if err != nil {
		return err
	}
	a, b := victims[0].Host.Address, victims[1].Host.Address
	return r.lose(ctx, []way{{a, b}, {b, a}})
}

func cutClient(closed ...func(*Run, *world.Client) way) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		var ways []way
		for _, c := range r.pickClients(oneClient) {
			for _, of := range closed {
				ways = append(ways, of(r, c))
			}
		}
		return r.lose(ctx, ways)
	}
}

// lose lets the packets on all these ways vanish.
func (r *Run) lose(ctx context.Context, ways []way) error {
	undo, err := undoable(ways, func(w way) (func() error, error) { return r.World.Hosts.Lose(w.from, w.to) })
	return r.during(ctx, r.longer(), undo, err)
}

// during keeps up what was done, with what came of it, undoes it, and waits for the
// members.
func (r *Run) during(ctx context.Context, least time.Duration, undo func() error, done error) error {
	if done == nil {
		done = r.holdLonger(ctx, least)
	}
	if undo != nil {
		done = errors.Join(done, undo())
	}
	return errors.Join(done, r.settle(ctx))
}

// resetLeader lets the connections that followers have to the leader end with a
// reset, and every new one.
func resetLeader(ctx context.Context, r *Run) error {
	victims, err := r.pick(ctx, leader)
	if err != nil {
		return err
	}
	undo, err := undoable(speaking(r, victims[0]), func(w way) (func() error, error) { return r.World.Hosts.Reset(w.to, w.from) })
	return r.during(ctx, r.longer(), undo, err)
}

func loseShare(ctx context.Context, r *Run) error {
	undo, err := r.World.Hosts.LoseShare(20)
	return r.during(ctx, r.longer(), undo, err)
}

// slowCable leaves the leader a tenth of what a run under load says to others.
func slowCable(ctx context.Context, r *Run) error {
	victims, err := r.pick(ctx, leader)
	if err != nil {
		return err
	}
	undo, err := r.World.Hosts.Slow(victims[0].Host, 256)
	return r.during(ctx, r.longer(), undo, err)
}
