package traffic

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// maxItems is how long a list gets before the next chapter begins.
const maxItems = 32

// chapterKey is the register that tells which list is the current one.
const chapterKey = "chapter"

func listKey(chapter int64) string { return fmt.Sprintf("list/%d", chapter) }

// append adds an item to the current list, or begins the next one.
func (p *part) append(ctx context.Context) {
	if p.chapter.id == "" && !p.findChapter() {
		return
	}
	items, ok := p.readList(p.chapter.number)
	if !ok || !p.may(ctx) {
		return
	}
	if len(items) >= maxItems {
		p.beginChapter()
		return
	}
	last := ""
	if len(items) > 0 {
		last = items[len(items)-1]
	}
	key := listKey(p.chapter.number)
	p.do(history.Event{Kind: history.Put, Key: key, Prev: last}, func(ctx context.Context, e *history.Event) error {
		text, err := json.Marshal(append(items, e.Value))
		if err != nil {
			return err
		}
		return p.store.Put(ctx, key, string(text))
	})
}

// findChapter reads the current chapter; the first holder begins the first one.
func (p *part) findChapter() bool {
	now, ok := p.read(chapterKey)
	p.chapter = now
	if ok && now.id == "" && p.mode != history.Shared {
		return p.beginChapter()
	}
	return ok && now.id != ""
}

// beginChapter begins the next list. Of a document's oldest, which goes with it, that
// is the last that anybody reads.
func (p *part) beginChapter() bool {
	number := p.chapter.number + 1
	if oldest := number - keptLists; inDocument(p.lock) && oldest > 0 {
		if _, ok := p.readList(oldest); !ok {
			return false
		}
	}
	next, ok := p.write(chapterKey, number, p.chapter)
	if ok {
		p.chapter = next
	}
	return ok
}

// readList reads the items of a list; there are none before the first.
func (p *part) readList(chapter int64) (items []string, ok bool) {
	key := listKey(chapter)
	ok = p.do(history.Event{Kind: history.Get, Key: key}, func(ctx context.Context, e *history.Event) error {
		text, found, err := p.store.Get(ctx, key)
		if err != nil || !found {
			return err
		}
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			return fmt.Errorf("%w: %w", errGarbled, err)
		}
		if len(items) > 0 {
			e.Items, e.Seen = items, items[len(items)-1]
		}
		return nil
	})
	return items, ok
}
