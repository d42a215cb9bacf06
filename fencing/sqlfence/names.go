package sqlfence

import (
	"errors"
	"fmt"
	"strings"
)

// maxIdentifier is PostgreSQL's limit, in bytes. It cuts longer names without a
// word, so that two tables could be one.
const maxIdentifier = 63

// checkTable takes "table" and "schema.table".
func checkTable(name string) error {
	parts := strings.Split(name, ".")
	if len(parts) > 2 {
		return fmt.Errorf("table %q: want TABLE or SCHEMA.TABLE", name)
	}
	for _, part := range parts {
		if err := checkIdentifier(part); err != nil {
			return fmt.Errorf("table %q: %w", name, err)
		}
	}
	return nil
}

func checkIdentifier(name string) error {
	switch {
	case name == "":
		return errors.New("a name is empty")
	case len(name) > maxIdentifier:
		return fmt.Errorf("a name has %d bytes, at most %d are allowed", len(name), maxIdentifier)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune("\"`'\\$?", r) }):
		return errors.New("a name holds a quote, a backslash, one of $ and ?, or a control character")
	}
	return nil
}

// quote writes a name, or "schema.table", as identifiers of the dialect.
func (d Dialect) quote(name string) string {
	mark := `"`
	if d == MySQL {
		mark = "`"
	}
	return mark + strings.ReplaceAll(name, ".", mark+"."+mark) + mark
}
