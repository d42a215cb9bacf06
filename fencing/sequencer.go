package fencing

import (
	"fmt"
	"strings"
)

// maxSequencer bounds the text that ParseSequencer looks at: a name of 255
// bytes, each percent-encoded, the separator, and the 19 digits of a token.
const maxSequencer = 3*255 + 1 + 19

// Sequencer names one acquisition of one lock. A service that receives it can
// refuse work from a holder that has been overtaken, without asking the cluster.
// The zero Sequencer is invalid.
type Sequencer struct {
	Lock  string // the lock's name, as given to the client; the guard of what it protects
	Token Token  // rises with every acquisition of Lock, across all clients
}

// String returns the text form, "accounts/42#1234". Bytes of the name outside
// 0x21–0x7E, and the bytes % and #, are percent-encoded, so that the text fits
// into a header, an environment variable or a shell word.
func (s Sequencer) String() string {
	var b strings.Builder
	for i := range len(s.Lock) {
		if c := s.Lock[i]; plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String() + "#" + s.Token.String()
}

// Valid reports whether s names a lock and a token that can have been issued.
func (s Sequencer) Valid() bool { return s.Lock != "" && s.Token.Valid() }

// MarshalText writes the text form.
func (s Sequencer) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text form; see [ParseSequencer] for its errors.
func (s *Sequencer) UnmarshalText(text []byte) error {
	parsed, err := ParseSequencer(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}

// ParseSequencer reads what [Sequencer.String] writes, and nothing else: one
// acquisition has one text. An empty string is [ErrMissing], anything else that
// is no sequencer [ErrMalformed]. Whether the lock's name is one that a cluster
// accepts is not checked here.
func ParseSequencer(text string) (Sequencer, error) {
	if text == "" {
		return Sequencer{}, fmt.Errorf("sequencer: %w", ErrMissing)
	}
	malformed := func(why string) (Sequencer, error) {
		return Sequencer{}, fmt.Errorf("sequencer %s: %w: %s", quote(text), ErrMalformed, why)
	}
	if len(text) > maxSequencer {
		return malformed("too long")
	}
	name, number, found := strings.Cut(text, "#")
	if !found {
		return malformed(`want LOCK#TOKEN, as in "accounts/42#1234"`)
	}
	lock, ok := unescape(name)
	if !ok || lock == "" {
		return malformed("the lock's name is empty or not percent-encoded as it should be")
	}
	token, err := ParseToken(number)
	if err != nil {
		return malformed("the token is not a decimal number from 1 to 9223372036854775807")
	}
	return Sequencer{Lock: lock, Token: token}, nil
}

// plain reports whether a byte of a lock's name stands for itself in the text form.
func plain(c byte) bool { return c >= 0x21 && c <= 0x7E && c != '%' && c != '#' }

// unescape undoes the percent-encoding of String; it refuses every other
// encoding of the same name.
func unescape(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			var ok bool
			if c, ok = unhex(s[i+1:]); !ok || plain(c) {
				return "", false
			}
			i += 2
		} else if !plain(c) {
			return "", false
		}
		out = append(out, c)
	}
	return string(out), true
}

// unhex reads the byte that the first two uppercase hex digits of s write.
func unhex(s string) (byte, bool) {
	const digits = "0123456789ABCDEF"
	if len(s) < 2 {
		return 0, false
	}
	high, low := strings.IndexByte(digits, s[0]), strings.IndexByte(digits, s[1])
	return byte(high<<4 | low), high >= 0 && low >= 0
}
