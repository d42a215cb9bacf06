package interop

import "testing"

// Waiters of all kinds form one queue: each is served in its turn, whoever came
// before it.
func TestAllWaysShareOneQueue(t *testing.T) {
	ways := append([]way{ours}, foreign...)
	// Every way comes after every way, itself included (a de Bruijn sequence).
	order := []int{0, 0, 1, 0, 2, 0, 3, 1, 1, 2, 1, 3, 2, 2, 3, 3, 0}
	onBoth(t, func(t *testing.T, s server) {
		etcd := s.etcd(t)
		first := hold(t, s.client(t), "orders")
		var line []*contender
		for i, n := range order {
			line = append(line, contend(t, s, ways[n], "orders"))
			awaitQueue(t, etcd, "orders", i+2)
		}
		unlock(t, first)
		for i, c := range line {
			c.mustHold(t)
			for j, other := range line {
				if i != j && other.held.Load() {
					t.Fatalf("%s (number %d) holds while it is the turn of %s (number %d)", other.way, j, c.way, i)
				}
			}
			c.release(t)
		}
		awaitQueue(t, etcd, "orders", 0)
	})
}

// Ours among foreign ones keep the other rules too: shared claims next to each other
// hold together, and nobody else beside them.
func TestSharedClaimsBetweenForeignOnesHoldTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, s server) {
		etcd := s.etcd(t)
		first := hold(t, s.client(t), "orders")
		var line []*contender
		for i, w := range []way{foreign[0], ourShared, ourShared, foreign[1], ourShared, foreign[2]} {
			line = append(line, contend(t, s, w, "orders"))
			awaitQueue(t, etcd, "orders", i+2)
		}
		unlock(t, first)
		for _, together := range [][]*contender{line[:1], line[1:3], line[3:4], line[4:5], line[5:]} {
			for _, c := range together {
				c.mustHold(t)
			}
			if n := holding(line); n != len(together) {
				t.Fatalf("%d hold the lock, want %d", n, len(together))
			}
			for _, c := range together {
				c.release(t)
			}
		}
	})
}

func holding(line []*contender) int {
	n := 0
	for _, c := range line {
		if c.held.Load() {
			n++
		}
	}
	return n
}
