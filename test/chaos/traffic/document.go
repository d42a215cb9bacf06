package traffic

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// document is all that lies behind one guard, where that is one JSON file.
type document map[string]string

func decodeDocument(text []byte) (document, error) {
	d := document{}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%w: %w", errGarbled, err)
	}
	return d, nil
}

// keptLists is how many lists a document keeps. It is written whole with each change:
// with all of them, a run of hours would write ever more.
const keptLists = 4

// inDocument reports whether all that lies behind a lock is one document.
func inDocument(lock string) bool {
	return history.Target(lock) == history.Control || history.Target(lock) == "file"
}

// put writes a register. With the beginning of a chapter, the list goes that has become
// too old: it was read for the last time before, see beginChapter.
func (d document) put(key, value string) {
	d[key] = value
	if r, err := parseRegister(value); key == chapterKey && err == nil {
		delete(d, listKey(r.number-keptLists))
	}
}

// under returns what begins with prefix.
func (d document) under(prefix string) map[string]string {
	found := maps.Clone(map[string]string(d))
	maps.DeleteFunc(found, func(key, _ string) bool { return !strings.HasPrefix(key, prefix) })
	return found
}
