package cli

import (
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fencelock/fencelock/fencing/kv"
)

// How the bytes of a key or value are written where a result has to be text.
const (
	encodingUTF8   = "utf-8"
	encodingBase64 = "base64"
)

// recordKey is a record's key in a result.
type recordKey struct {
	Key         string `json:"key"`
	KeyEncoding string `json:"key_encoding,omitempty"` // "base64" for a key that is no UTF-8
}

// record is one key and its value. The revision is a string, as every number that
// can exceed 2^53.
type record struct {
	recordKey
	Value    string `json:"value"`
	Encoding string `json:"encoding"` // of the value
	Revision int64  `json:"revision,string"`

	raw    kv.Record
	base64 bool // the table shows the value so
}

type records []record

// written is the result of a put, removed that of a delete. People see no news
// as good news, and what a command under a lock prints stays its own.
type (
	written struct {
		recordKey
		Revision int64 `json:"revision,string"`
	}
	removed struct {
		recordKey
		Deleted bool `json:"deleted"`
	}
)

func (written) table(io.Writer) {}
func (removed) table(io.Writer) {}

func keyOf(key string) recordKey {
	text, encoding := encode([]byte(key))
	if encoding == encodingUTF8 {
		return recordKey{Key: text}
	}
	return recordKey{text, encoding}
}

func (g *guarded) recordOf(r kv.Record) record {
	text, encoding := encode(r.Value)
	if g.base64 {
		text, encoding = base64.StdEncoding.EncodeToString(r.Value), encodingBase64
	}
	return record{recordKey: keyOf(r.Key), Value: text, Encoding: encoding, Revision: r.Revision, raw: r, base64: g.base64}
}

func encode(b []byte) (text, encoding string) {
	if utf8.Valid(b) {
		return string(b), encodingUTF8
	}
	return base64.StdEncoding.EncodeToString(b), encodingBase64
}

func (r record) table(w io.Writer) { records{r}.table(w) }

func (list records) table(w io.Writer) {
	row(w, "KEY", "REVISION", "VALUE")
	for _, r := range list {
		value := visible(string(r.raw.Value))
		if r.base64 {
			value = r.Value
		}
		row(w, visible(r.raw.Key), strconv.FormatInt(r.Revision, 10), value)
	}
}

// visible quotes what would disturb a table or a terminal: others chose it. What
// begins like something quoted is quoted too, so that no two texts look the same.
func visible(s string) string {
	if s == "" || s[0] == '"' || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// onTerminal is a value as a terminal may get it: text as it is, but ended by a
// line break, since the prompt should not follow in the same line; and quoted if
// it is no text, since it could be orders to the terminal.
func onTerminal(value []byte) string {
	harmless := func(r rune) bool { return unicode.IsPrint(r) || r == '\n' || r == '\t' }
	text := string(value)
	switch {
	case text == "":
		return ""
	case !utf8.Valid(value) || strings.ContainsFunc(text, func(r rune) bool { return !harmless(r) }):
		return strconv.Quote(text) + "\n"
	}
	return strings.TrimSuffix(text, "\n") + "\n"
}

func (a *app) write(text string) error {
	if _, err := io.WriteString(a.Stdout, text); err != nil {
		return fmt.Errorf("write the value: %w", err)
	}
	return nil
}

// decodeBase64 reads standard base64, with padding or without.
func decodeBase64(text []byte) ([]byte, error) {
	joined := strings.TrimRight(strings.Join(strings.Fields(string(text)), ""), "=")
	value, err := base64.RawStdEncoding.DecodeString(joined)
	if err != nil {
		return nil, fmt.Errorf("the value is no base64: %w", err)
	}
	return value, nil
}
