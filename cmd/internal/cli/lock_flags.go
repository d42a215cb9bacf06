package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Limits of labels, in bytes: everybody who looks at the lock reads them.
const (
	maxLabelKey = 255
	maxLabels   = 16 << 10
)

// waitValue is a flag with a time that may be zero.
type waitValue struct {
	to    *time.Duration
	given bool // or it has a default
}

func (v *waitValue) Set(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return errors.New("want a number with a unit, such as 30s, 5m or 200ms")
	case d < 0:
		return errors.New("want 0 or more")
	}
	*v.to, v.given = d, true
	return nil
}

func (v *waitValue) String() string {
	if !v.given {
		return ""
	}
	return v.to.String()
}

func (v *waitValue) Type() string { return "duration" }

// numberValue is a flag with a whole number.
type numberValue struct {
	to          *int
	least, most int
}

func (v *numberValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < v.least || n > v.most {
		return fmt.Errorf("want a number, %d to %d", v.least, v.most)
	}
	*v.to = n
	return nil
}

func (v *numberValue) String() string {
	if v.to == nil || *v.to == 0 {
		return ""
	}
	return strconv.Itoa(*v.to)
}

func (v *numberValue) Type() string { return "number" }

// labelsOf reads KEY=VALUE.
func labelsOf(texts []string) (map[string]string, error) {
	labels := make(map[string]string, len(texts))
	bytes := 0
	for _, text := range texts {
		key, value, found := strings.Cut(text, "=")
		earlier, twice := labels[key]
		switch {
		case !found || key == "":
			return nil, fmt.Errorf("--label %q: want KEY=VALUE", shortened(text))
		case len(key) > maxLabelKey:
			return nil, fmt.Errorf("--label %q: the key has %d bytes; want at most %d", shortened(text), len(key), maxLabelKey)
		case twice:
			return nil, fmt.Errorf("--label %q: the key %q was given before, with the value %q", shortened(text), key, shortened(earlier))
		}
		labels[key] = value
		bytes += len(text)
	}
	if bytes > maxLabels {
		return nil, fmt.Errorf("--label: %d bytes of labels; want at most %d", bytes, maxLabels)
	}
	return labels, nil
}

// shortened is enough of a text to recognise it in an error.
func shortened(text string) string {
	if len(text) > 40 {
		return strings.ToValidUTF8(text[:40], "") + "…"
	}
	return text
}

// check refuses flags that do not go together.
func (o *lockOptions) check(cmd *cobra.Command, names, command []string) error {
	switch {
	case cmd.Flags().Changed("wait") && cmd.Flags().Changed("timeout"):
		return usagef(cmd, "--wait and --timeout are one setting; give one of them")
	case o.try && o.wait > 0:
		return usagef(cmd, "--try and --wait exclude each other")
	case o.shared && o.limit > 0:
		return usagef(cmd, "--shared and --limit exclude each other: a lock is shared by all who only read, a semaphore by any --limit of them")
	case (o.shared || o.limit > 0) && len(names) > 1:
		return usagef(cmd, "%d names: --shared and --limit take one; several locks are held exclusively", len(names))
	case o.hold && len(command) > 0:
		return usagef(cmd, "--hold means to hold without a command; leave it out, or the command")
	}
	return nil
}
