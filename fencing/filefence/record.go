package filefence

import (
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/fencelock/fencelock/fencing"
)

// maxRecord is more than a record can be: a sequencer's text has at most 785 bytes.
const maxRecord = 1024

// encode returns the line that the side file holds.
func encode(seq fencing.Sequencer) string {
	text := seq.String()
	return fmt.Sprintf("fence 1 %s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

// decode reads a side file's text. The empty text is that of a side file that was
// just created: there is no fence yet, and the sequencer is zero. Nothing else but
// a whole record is read: half of one could be a lower token.
func decode(text string) (fencing.Sequencer, error) {
	if text == "" {
		return fencing.Sequencer{}, nil
	}
	if words := strings.Split(text, " "); len(words) == 4 {
		if seq, err := fencing.ParseSequencer(words[2]); err == nil && encode(seq) == text {
			return seq, nil
		}
	}
	return fencing.Sequencer{}, fmt.Errorf("%.60q is no fence: it was damaged, or written by something else; "+
		"when you are sure that no old holder is at work, remove it", text)
}
