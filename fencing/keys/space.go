package keys

import (
	"fmt"
	"strings"

	"github.com/fencelock/fencelock/fencing"
)

// DefaultNamespace is where everything lies unless a namespace is set.
const DefaultNamespace = "fencelock/"

// separator ends a lock's name inside a key. No name contains it.
const separator = "/@/"

// Space knows the keys of one namespace. The zero Space is not usable: see
// [NewSpace].
type Space struct{ prefix string }

// NewSpace returns the keys under a namespace, which follows the rules of
// [CheckName] and may end in "/". An empty one means [DefaultNamespace].
func NewSpace(namespace string) (Space, error) {
	if namespace == "" {
		return Space{prefix: DefaultNamespace}, nil
	}
	whole := strings.TrimSuffix(namespace, "/")
	if why := faultOfName(whole); why != "" {
		return Space{}, fmt.Errorf("%w: namespace %s: %s", fencing.ErrInvalidName, show(namespace), why)
	}
	return Space{prefix: whole + "/"}, nil
}

// Locks is the prefix of every claim of every lock whose name begins with prefix.
func (s Space) Locks(prefix string) string { return s.prefix + "lock/" + prefix }

// Queue is the prefix of every claim of one lock.
func (s Space) Queue(name string) string { return s.prefix + "lock/" + name + separator }

// Claim is the key of a session's n-th claim on a lock.
func (s Space) Claim(name string, lease int64, n int) string {
	return ClaimIn(s.Queue(name), lease, n)
}

// ClaimIn is the key of a session's n-th claim in a queue, given its prefix.
func ClaimIn(queue string, lease int64, n int) string {
	return fmt.Sprintf("%s%x-%d", queue, lease, n)
}

// ClosedMark is the key of the mark that a session leaves at a lock when it is
// closed. It lies in no queue: no name has the segment "@".
func (s Space) ClosedMark(name string, lease int64) string {
	return fmt.Sprintf("%slock/%s/@closed/%x", s.prefix, name, lease)
}

// Permits is the prefix of every claim on one semaphore.
func (s Space) Permits(name string) string { return s.prefix + "semaphore/" + name + separator }

// Limit is the key of a semaphore's limit, in decimal.
func (s Space) Limit(name string) string { return s.prefix + "semaphore/" + name + "/limit" }

// Semaphores is the prefix of every key of every semaphore.
func (s Space) Semaphores() string { return s.prefix + "semaphore/" }

// SemaphoreOf returns the name of the semaphore to which a key belongs: as its
// limit, or else as a claim on it.
func (s Space) SemaphoreOf(key string) (name string, limit, ok bool) {
	rest, ok := strings.CutPrefix(key, s.Semaphores())
	if !ok {
		return "", false, false
	}
	if name, _, ok = strings.Cut(rest, separator); ok {
		return name, false, true
	}
	name, ok = strings.CutSuffix(rest, "/limit")
	return name, ok, ok
}

// Fence is the key of a guard's fence; its values are [FenceValue].
func (s Space) Fence(name string) string { return s.prefix + "fence/" + name }

// Record is the key of one record behind a guard's fence.
func (s Space) Record(guard, key string) string { return s.Records(guard) + key }

// Records is the prefix of every record behind a guard's fence.
func (s Space) Records(guard string) string { return s.prefix + "kv/" + guard + separator }

// LockOf returns the name of the lock in whose queue a key lies.
func (s Space) LockOf(key string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(key, s.prefix+"lock/")
	if !ok {
		return "", false
	}
	name, _, ok = strings.Cut(rest, separator)
	return name, ok
}

// Rights are the prefixes of all keys that a client reads and writes for locks
// whose names begin with prefix: what a user of these locks is to be granted.
func (s Space) Rights(prefix string) []string {
	var list []string
	for _, kind := range []string{"lock/", "fence/", "kv/", "semaphore/"} {
		list = append(list, s.prefix+kind+prefix)
	}
	return list
}
