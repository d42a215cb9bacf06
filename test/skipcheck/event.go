package main

import (
	"bufio"
	"encoding/json"
	"io"
)

// event is what `go doc test2json` and `go help buildjson` describe, as far as
// it is needed here.
type event struct {
	Action  string
	Package string
	Test    string // empty: the package itself
	Output  string
}

// maxLine is far above what test2json writes: it cuts long output in pieces.
const maxLine = 16 << 20

// read hands every event to add, and every line that is none (a tool that
// does not know -json) to say.
func read(in io.Reader, add func(event), say func(string)) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			say(lines.Text() + "\n")
			continue
		}
		add(e)
	}
	return lines.Err()
}
