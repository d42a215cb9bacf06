package interop

import (
	"strings"
	"testing"
)

// tokenTTL is how long a login's token lasts that nobody uses: etcd's own tokens last
// 300 s, the shortest 1 s.
const tokenTTL = "1"

// Logins end while clients wait: when the token is gone that a waiter came with,
// the lock comes all the same, and so does another one over the same connection.
func TestLoginEndsWhileWaiting(t *testing.T) {
	t.Parallel()
	onBothEtcds(t, func(t *testing.T, s server) {
		etcd := withUsers(t, s)
		held := hold(t, s.clientAs(t, admin), "orders/1")
		other := hold(t, s.clientAs(t, admin), "orders/2")
		tokens := tokens{server: s.process, user: clerk}
		c := s.clientAs(t, clerk)

		first := goLock(c, "orders/1")
		awaitQueue(t, etcd, "orders/1", 2)
		tokens.awaitEnd(t)
		next := goLock(c, "orders/2") // another watch, over the stream of the first
		awaitQueue(t, etcd, "orders/2", 2)
		unlock(t, other)
		unlock(t, receive(t, next))

		tokens.awaitEnd(t)
		unlock(t, held)
		l := receive(t, first)
		tokens.awaitEnd(t)
		must(t, "put after the end of the login", second(l.KV().Put(soon(t), "k", nil)))
		tokens.awaitEnd(t)
		unlock(t, l)
	}, "--auth-token-ttl="+tokenTTL, "--log-level=debug")
}

// tokens are those of a user's logins, as the server's log tells of them.
type tokens struct {
	server *process
	user   string
	known  int // how many logins there had been when the last one had ended
}

// awaitEnd waits until the user has logged in again, and no token is left. The user's
// client logs in now and then to renew its lease; but a token lasts for 1 s, and
// there are 5 s between two renewals.
func (k *tokens) awaitEnd(t *testing.T) {
	t.Helper()
	must(t, "wait for the end of all logins of "+k.user, k.server.await(soon(t), func(log string) bool {
		begun, ended := k.count(log)
		if begun == k.known || begun > ended {
			return false
		}
		k.known = begun
		return true
	}))
}

func (k *tokens) count(log string) (begun, ended int) {
	for line := range strings.Lines(log) {
		if !strings.Contains(line, `"user-name":"`+k.user+`"`) {
			continue
		}
		switch {
		case strings.Contains(line, `"authenticated a user"`):
			begun++
		case strings.Contains(line, `"deleted a simple token"`):
			ended++
		}
	}
	return begun, ended
}
