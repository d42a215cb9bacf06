package fencing

import (
	"fmt"
	"strconv"
)

// Token is a fencing token: it rises with every grant of a lock, across all
// clients, and is never issued twice. Valid tokens are greater than zero; the
// zero Token means that there is none.
//
// A token may exceed 2^53, the largest integer that JSON numbers, Lua and
// JavaScript carry exactly: write it as text wherever it leaves Go.
type Token int64

// String returns the token in decimal, the form that [ParseToken] reads.
func (t Token) String() string { return strconv.FormatInt(int64(t), 10) }

// Valid reports whether t can have been issued by a lock service.
func (t Token) Valid() bool { return t > 0 }

// MarshalText writes the token in decimal: in JSON it is a string, which keeps
// every digit.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText wrote; see [ParseToken] for its errors.
func (t *Token) UnmarshalText(text []byte) error {
	parsed, err := ParseToken(string(text))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}

// ParseToken reads a token in decimal: digits only, no sign, no leading zero,
// greater than zero. An empty string is [ErrMissing], anything else
// [ErrMalformed].
func ParseToken(s string) (Token, error) {
	if s == "" {
		return 0, fmt.Errorf("token: %w", ErrMissing)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || strconv.FormatInt(n, 10) != s {
		return 0, fmt.Errorf("token %s: %w: want a decimal number from 1 to 9223372036854775807", quote(s), ErrMalformed)
	}
	return Token(n), nil
}

// quote shows untrusted text in an error message, at most 40 bytes of it.
func quote(s string) string {
	if len(s) > 40 {
		return strconv.QuoteToASCII(s[:40]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
