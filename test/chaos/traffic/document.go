package traffic

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
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

// under returns what begins with prefix.
func (d document) under(prefix string) map[string]string {
	found := maps.Clone(map[string]string(d))
	maps.DeleteFunc(found, func(key, _ string) bool { return !strings.HasPrefix(key, prefix) })
	return found
}
