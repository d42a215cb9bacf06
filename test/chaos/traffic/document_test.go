package traffic

import (
	"maps"
	"slices"
	"testing"
)

// A document does not grow with the time that a run takes.
func TestDocumentKeepsTheLastLists(t *testing.T) {
	d := document{}
	for chapter := int64(1); chapter <= 9; chapter++ {
		d.put(chapterKey, register{chapter, "c1.1-1"}.String())
		d.put(listKey(chapter), `["c1.1-2"]`)
	}
	got := slices.Sorted(maps.Keys(d))
	if want := []string{"chapter", "list/6", "list/7", "list/8", "list/9"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
