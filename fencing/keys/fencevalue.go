package keys

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fencelock/fencelock/fencing"
)

// FenceValue is what lies under a fence's key: the highest admitted token in 16
// lowercase hex digits, and sometimes one byte more:
//
//	hex(t)    the exclusive holder of token t has claimed the fence
//	hex(t)s   shared holders have, when t was the oldest claim in the queue
//	hex(t)~   the fence was closed above t, by a break or a restore
//
// Fence values are compared as bytes: hex(t) < hex(t)s < hex(t)~ < hex(t+1).
type FenceValue string

const (
	sharedMark = "s"
	closedMark = "~"
	hexDigits  = 16
)

// Claimed is the value that the exclusive holder of token t puts.
func Claimed(t fencing.Token) FenceValue { return FenceValue(fmt.Sprintf("%016x", int64(t))) }

// Shared is the value that shared holders put; oldest is the smallest token in
// the queue when they were granted.
func Shared(oldest fencing.Token) FenceValue { return Claimed(oldest) + sharedMark }

// Closed is the value that shuts out token t and everything below it.
func Closed(t fencing.Token) FenceValue { return Claimed(t) + closedMark }

// Above is the lowest value that is higher than what the exclusive holder of
// token t puts: byte order has no room between a value and the same with a zero
// byte. Nobody ever puts it.
func Above(t fencing.Token) FenceValue { return Claimed(t) + "\x00" }

// ParseFence reads a fence's value. A value that nobody of this protocol can
// have written is an error: a fence that cannot be read admits nothing.
func ParseFence(value string) (FenceValue, error) {
	digits := strings.TrimSuffix(strings.TrimSuffix(value, closedMark), sharedMark)
	n, err := strconv.ParseInt(digits, 16, 64)
	if err != nil || n <= 0 || len(digits) != hexDigits || len(value) > hexDigits+1 || string(Claimed(fencing.Token(n))) != digits {
		return "", fmt.Errorf("fence holds %q, which is no fence value: it was written by something else than fencelock", value)
	}
	return FenceValue(value), nil
}

// Token is the t of the value. It must have come from this package.
func (v FenceValue) Token() fencing.Token {
	if len(v) < hexDigits {
		return 0
	}
	n, _ := strconv.ParseInt(string(v[:hexDigits]), 16, 64)
	return fencing.Token(n)
}

// IsShared reports whether shared holders have put the value.
func (v FenceValue) IsShared() bool { return strings.HasSuffix(string(v), sharedMark) }

// IsClosed reports whether a break or a restore has put the value.
func (v FenceValue) IsClosed() bool { return strings.HasSuffix(string(v), closedMark) }
