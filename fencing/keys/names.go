package keys

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fencelock/fencelock/fencing"
)

const (
	// MaxName is the longest name of a lock, in bytes. Every claim in a queue
	// repeats it, and etcd keeps all keys in memory.
	MaxName = 255

	// MaxKey is the longest key of a record behind a fence, in bytes.
	MaxKey = 1024
)

// CheckName says whether a lock can bear this name: 1 to 255 bytes of UTF-8 in
// segments joined by "/", no segment empty or equal to "@", "." or "..", no
// control character and no "#". The error is [fencing.ErrInvalidName] with the
// reason.
func CheckName(name string) error {
	if why := faultOfName(name); why != "" {
		return fmt.Errorf("%w: lock %s: %s", fencing.ErrInvalidName, show(name), why)
	}
	return nil
}

// CheckPrefix says whether locks can bear names that begin like this: what could
// itself be a name, with or without a "/" at its end. The empty prefix means
// every lock.
func CheckPrefix(prefix string) error {
	whole := strings.TrimSuffix(prefix, "/")
	if whole == "" {
		whole = prefix // "/" alone is a segment too few, and not nothing
	}
	if prefix == "" || faultOfName(whole) == "" {
		return nil
	}
	return fmt.Errorf("%w: prefix %s: %s", fencing.ErrInvalidName, show(prefix), faultOfName(whole))
}

// CheckKey says whether a record can have this key: any 1 to 1024 bytes.
func CheckKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("%w: key is empty", fencing.ErrInvalidName)
	case len(key) > MaxKey:
		return fmt.Errorf("%w: key %s has %d bytes, at most %d are allowed", fencing.ErrInvalidName, show(key), len(key), MaxKey)
	}
	return nil
}

// CheckKeyPrefix says whether keys can begin like this; an empty prefix means all.
func CheckKeyPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	return CheckKey(prefix)
}

// faultOfName returns what is wrong with a name, or "".
func faultOfName(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case len(name) > MaxName:
		return fmt.Sprintf("it has %d bytes, at most %d are allowed", len(name), MaxName)
	case !utf8.ValidString(name):
		return "it is not valid UTF-8"
	case strings.ContainsRune(name, '#'):
		return `"#" is not allowed: it stands before the token in a sequencer`
	case strings.ContainsFunc(name, unicode.IsControl):
		return "control characters are not allowed"
	}
	for segment := range strings.SplitSeq(name, "/") {
		switch segment {
		case "":
			return `a segment between "/" is empty`
		case "@", ".", "..":
			return fmt.Sprintf("the segment %q is not allowed", segment)
		}
	}
	return ""
}

// show quotes a name for an error message, at most 60 bytes of it.
func show(name string) string {
	if len(name) > 60 {
		return fmt.Sprintf("%q…", name[:60])
	}
	return fmt.Sprintf("%q", name)
}
