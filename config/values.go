package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/fencelock/fencelock/fencing/keys"
)

// The kinds of values, as a command's help shows them.
const (
	kindText     = "string"
	kindBool     = "bool"
	kindList     = "list"
	kindDuration = "duration"
	kindSize     = "size"
)

// field is a place in a Config that text is read into. It is a pflag.Value.
type field[T any] struct {
	to    *T
	kind  string
	parse func(string) (T, error)
	show  func(T) string
}

func (f field[T]) Set(s string) error {
	v, err := f.parse(s)
	if err != nil {
		return err
	}
	*f.to = v
	return nil
}

func (f field[T]) String() string {
	if f.to == nil { // pflag makes zero values to compare with
		return ""
	}
	return f.show(*f.to)
}

func (f field[T]) Type() string { return f.kind }

func itself(s string) string { return s }

func text(to *string) pflag.Value {
	return checkedText(to, func(string) error { return nil })
}

func checkedText(to *string, check func(string) error) pflag.Value {
	return field[string]{to, kindText, func(s string) (string, error) { return s, check(s) }, itself}
}

// filled is text that cannot be empty.
func filled(to *string) pflag.Value {
	return checkedText(to, func(s string) error {
		if s == "" {
			return errors.New("it is empty")
		}
		return nil
	})
}

func oneOf(to *string, choices ...string) pflag.Value {
	value := field[string]{to: to, kind: strings.Join(choices, "|"), show: itself}
	value.parse = func(s string) (string, error) {
		if !slices.Contains(choices, s) {
			return "", fmt.Errorf("want one of %s", strings.Join(choices, ", "))
		}
		return s, nil
	}
	return value
}

func namespace(to *string) pflag.Value {
	return checkedText(to, func(s string) error {
		_, err := keys.NewSpace(s)
		return err
	})
}

func user(to *string) pflag.Value {
	return checkedText(to, func(s string) error {
		if strings.Contains(s, ":") {
			return errors.New("want a name alone; the password does not belong on a command line, set " + prefix + "CLIENT_PASSWORD")
		}
		return nil
	})
}

// memberName refuses what etcd's list of members cannot hold.
func memberName(to *string) pflag.Value {
	return checkedText(to, func(s string) error {
		if s == "" || strings.ContainsAny(s, "=, ") {
			return errors.New("want a name without '=', ',' and spaces")
		}
		return nil
	})
}

func boolean(to *bool) pflag.Value {
	parse := func(s string) (bool, error) {
		v, err := strconv.ParseBool(s)
		if err != nil {
			return false, errors.New("want true or false")
		}
		return v, nil
	}
	return field[bool]{to, kindBool, parse, strconv.FormatBool}
}

// off, in place of a value, switches off what it is for.
const off = "off"

func addressOrOff(to *string) pflag.Value {
	value := checkedText(to, func(s string) error {
		if s == off {
			return nil
		}
		u, err := ParseAddress(s)
		if err == nil && (u.Scheme != "" || u.Path != "") {
			err = fmt.Errorf("%q: want host:port alone; there is no TLS", s)
		}
		return err
	}).(field[string])
	value.kind = "host:port|" + off
	return value
}

// durationOrOff is negative when off.
func durationOrOff(to *time.Duration, least time.Duration) pflag.Value {
	value := duration(to, least).(field[time.Duration])
	parse, show := value.parse, value.show
	value.kind = kindDuration + "|" + off
	value.parse = func(s string) (time.Duration, error) {
		if s == off {
			return -1, nil
		}
		return parse(s)
	}
	value.show = func(d time.Duration) string {
		if d < 0 {
			return off
		}
		return show(d)
	}
	return value
}

// durationOrNone has no text where there is no default.
func durationOrNone(to *time.Duration, least time.Duration) pflag.Value {
	value := duration(to, least).(field[time.Duration])
	value.show = func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}
	return value
}

// duration refuses less than least.
func duration(to *time.Duration, least time.Duration) pflag.Value {
	return durationBetween(to, least, math.MaxInt64)
}

// durationBetween refuses less than least and more than most.
func durationBetween(to *time.Duration, least, most time.Duration) pflag.Value {
	parse := func(s string) (time.Duration, error) {
		v, err := time.ParseDuration(s)
		switch {
		case tooLong(s, err), v > most:
			return 0, fmt.Errorf("want at most %v", most)
		case err != nil:
			return 0, errors.New("want a number with a unit, such as 15s, 1m30s or 200ms")
		case v < least && least <= 1:
			return 0, errors.New("want more than zero")
		case v < least:
			return 0, fmt.Errorf("want at least %v", least)
		}
		return v, nil
	}
	return field[time.Duration]{to, kindDuration, parse, time.Duration.String}
}

// tooLong reports whether a duration was not read because it exceeds what Go has
// room for, some 292 years: it is one if its digits are cut down.
func tooLong(s string, err error) bool {
	if err == nil {
		return false
	}
	unit := strings.TrimLeft(s, "0123456789")
	_, err = time.ParseDuration("1" + unit)
	return err == nil && len(unit) < len(s)
}

// maxOwner bounds an owner's name, in bytes: everybody who looks at a lock reads it.
const maxOwner = 255

func owner(to *string) pflag.Value {
	return checkedText(to, func(s string) error {
		switch {
		case len(s) > maxOwner:
			return fmt.Errorf("it has %d bytes; want at most %d", len(s), maxOwner)
		case !utf8.ValidString(s):
			return errors.New("it is not UTF-8 text")
		}
		return nil
	})
}

// addresses reads a comma-separated list. Given again, it adds to what it has, as
// a flag that is repeated.
func addresses(to *[]string) pflag.Value {
	parse := func(s string) ([]string, error) {
		list := slices.Clone(*to)
		for part := range strings.SplitSeq(s, ",") {
			if _, err := ParseAddress(strings.TrimSpace(part)); err != nil {
				return nil, err
			}
			list = append(list, strings.TrimSpace(part))
		}
		return list, nil
	}
	return field[[]string]{to, kindList, parse, func(list []string) string { return strings.Join(list, ",") }}
}
