//go:build linux

package faults

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fencelock/fencelock/test/chaos/clock"
	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/chaos/world"
	"github.com/fencelock/fencelock/test/testbinary"
)

// testTime bounds one kind; a member that starts anew takes most of it.
const testTime = 90 * time.Second

// few are tried without -every: quick ones, of as many groups as possible.
var few = []string{
	"kill -9 of a follower", "SIGTERM and restart of a client", "a client is cut off", "connections are reset", "history is compacted",
	"power cut of a follower", "a lock is broken", "kill -9 of Redis",
}

// Each kind does its harm to a world, says so, and leaves it in order. Single ones:
//
//	go test ./test/chaos/faults -every -run 'TestKindsWork/power'
func TestKindsWork(t *testing.T) {
	w := newWorld(t)
	for _, k := range All() {
		if !*every && !slices.Contains(few, k.Name) {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			for _, need := range k.Needs {
				if !w.Has(need) {
					t.Skip("no " + need + " here")
				}
			}
			tryKind(t, w, k)
			inOrder(t, w)
		})
	}
}

// Two kinds that take nothing in common undo what they did themselves, however they
// meet.
//
//	go test ./test/chaos/faults -every -pairs 20 -run TestPairsWork
func TestPairsWork(t *testing.T) {
	if *pairs == 0 { // as usual
		return
	}
	w := newWorld(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	kinds := slices.DeleteFunc(All(), func(k Kind) bool {
		return slices.ContainsFunc(k.Needs, func(need string) bool { return !w.Has(need) })
	})
	for range *pairs {
		one := kinds[random.IntN(len(kinds))]
		others := slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool {
			return slices.ContainsFunc(k.Takes, func(part string) bool { return slices.Contains(one.Takes, part) })
		})
		other := others[random.IntN(len(others))]
		t.Run(one.Name+" and "+other.Name, func(t *testing.T) {
			var both sync.WaitGroup
			both.Go(func() { tryKind(t, w, one) })
			both.Go(func() { tryKind(t, w, other) })
			both.Wait()
			inOrder(t, w)
		})
	}
}

// A member sees the clock that it is given. (The clients here are this program,
// which is built without one.)
func TestMembersHaveClocks(t *testing.T) {
	if !*every { // the members are built without clocks
		return
	}
	w := newWorld(t)
	m := w.Members[1]
	for _, fast := range []time.Duration{time.Hour, -time.Hour, 0} {
		must(t, w.Clocks.Set(m.Name, fast))
		reply, err := http.Get("http://" + m.Host.Address + ":2381/livez")
		must(t, err)
		must(t, reply.Body.Close())
		told, err := http.ParseTime(reply.Header.Get("Date"))
		must(t, err)
		if got := time.Until(told); (got - fast).Abs() > 10*time.Second {
			t.Errorf("the member's clock is fast by %v, want %v", got, fast)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func tryKind(t *testing.T, w *world.World, k Kind) {
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	seed := rand.Uint64()
	f := &history.Fault{Kind: k.Name, Begin: history.Now(), Cost: k.Cost}
	r := &Run{World: w, For: time.Second, Rand: rand.New(rand.NewPCG(seed, 0)), Fault: f}
	if err := k.Do(ctx, r); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	took := history.Now().Sub(f.Begin)
	if c := f.Cost; (c.Rollback != "") != (c.Since != 0) || c.Since > c.SinceEnd {
		t.Errorf("seed %d: its cost is %+v", seed, c)
	}
	t.Logf("%s: %v; victims %v; %s", k.Name, took.Round(time.Millisecond), f.Victims, f.Detail)
}

// inOrder: whoever was harmed goes on, or has a successor.
func inOrder(t *testing.T, w *world.World) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	must(t, w.Settle(ctx))
	for _, c := range w.Clients {
		if !c.Running() {
			t.Errorf("client %s has ended with code %d: %s", c.Name, c.Code(), c.Text())
			must(t, c.Start())
		}
	}
}

func newWorld(t *testing.T) *world.World {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	self, err := os.Executable()
	must(t, err)
	o := world.Options{Folder: t.TempDir(), Clients: 2, Binary: testbinary.Path(), Self: []string{self}, Output: t.Output()}
	if *every {
		o.Clocks, err = clock.New(t.TempDir(), "m1", "m2", "m3", "c1", "c2")
		must(t, err)
	}
	w, err := world.New(ctx, o)
	must(t, err)
	t.Cleanup(func() { must(t, w.Close()) })
	for _, c := range w.Clients {
		must(t, c.Start())
	}
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
