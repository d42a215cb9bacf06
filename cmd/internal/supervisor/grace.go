package supervisor

import (
	"fmt"
	"time"
)

// leastMargin is what the client keeps between its deadline and the end of the
// lease, or a tenth of the TTL if that is more.
const leastMargin = 500 * time.Millisecond

// CheckGrace refuses a grace that is negative or longer than a third of the TTL:
// a lease is renewed every third, so a longer one would end commands whose lock
// is in no danger.
func CheckGrace(grace, ttl time.Duration) error {
	if grace < 0 || grace > ttl/3 {
		return fmt.Errorf("grace %v: want 0 to %v, a third of the TTL of %v", grace, ttl/3, ttl)
	}
	return nil
}

// Grace is how long before the deadline of a session with this TTL, as granted,
// a command is told to end: what was asked for, or a fifth of the TTL if that is
// negative. With the shortest TTLs it is less, because the margin takes a larger
// part: two fifths of the time from a renewal to the deadline belong to the
// renewal.
func Grace(asked, ttl time.Duration) time.Duration {
	if asked < 0 {
		asked = ttl / 5
	}
	trusted := ttl - max(ttl/10, leastMargin)
	return max(min(asked, ttl/3, (trusted-ttl/3)*3/5), 0)
}
