package cli

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"os"
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

	raw []byte
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

func recordOf(r kv.Record) record {
	text, encoding := encode(r.Value)
	return record{recordKey: keyOf(r.Key), Value: text, Encoding: encoding, Revision: r.Revision, raw: r.Value}
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
		row(w, visible(r.Key), strconv.FormatInt(r.Revision, 10), visible(string(r.raw)))
	}
}

// visible quotes what would disturb a table or a terminal: others chose it.
func visible(s string) string {
	if s == "" || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// printRaw writes a value as it is. On a terminal the prompt should not follow in
// the same line.
func (a *app) printRaw(value []byte) error {
	if isTerminal(a.Stdout) && utf8.Valid(value) && !bytes.HasSuffix(value, []byte("\n")) {
		value = append(bytes.Clone(value), '\n')
	}
	if _, err := a.Stdout.Write(value); err != nil {
		return fmt.Errorf("write the value: %w", err)
	}
	return nil
}

// isTerminal takes every character device for a terminal; to the others, such as
// /dev/null, a line break does no harm.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
