package filefence

import (
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/fencelock/fencelock/fencing"
)

// maxRecord is more than a record can be: a sequencer's text has at most 785 bytes.
const maxRecord = 1024

// none stands in the place of the sequencer before the first one was admitted. It
// is no sequencer's text: those have a "#".
const none = "none"

// encode returns the line that the side file holds; the zero sequencer is none.
func encode(seq fencing.Sequencer) string {
	text := none
	if seq != (fencing.Sequencer{}) {
		text = seq.String()
	}
	return fmt.Sprintf("fence 1 %s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

// decode reads a side file's text. Nothing but a whole record is read: half of one
// could be a lower token, and no text at all is left when a file was cut off, or
// when a file system kept a name through a power failure and lost what was in it.
func decode(text string) (fencing.Sequencer, error) {
	if text == encode(fencing.Sequencer{}) {
		return fencing.Sequencer{}, nil
	}
	if words := strings.Split(text, " "); len(words) == 4 {
		if seq, err := fencing.ParseSequencer(words[2]); err == nil && encode(seq) == text {
			return seq, nil
		}
	}
	return fencing.Sequencer{}, fmt.Errorf("%.60q is no fence: it was damaged, cut off, or written by something else; "+
		"when you are sure that no old holder is at work, remove it", text)
}
