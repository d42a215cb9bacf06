package traffic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// finalWait is how long the last client waits for each lock.
const finalWait = 60 * time.Second

// readEverything takes each lock once, and reads all that lies behind it.
func (p *process) readEverything(ctx context.Context) error {
	var errs []error
	for _, t := range p.tasks() {
		h := t.acquire(ctx, t.waiting(finalWait))
		if h == nil {
			errs = append(errs, fmt.Errorf("%s could not be taken", t.lock))
			continue
		}
		if !h.parts[0].readAll() {
			errs = append(errs, fmt.Errorf("%s could not be read", t.lock))
		}
		h.release()
	}
	return errors.Join(errs...)
}

func (p *part) readAll() bool {
	switch history.Workload(p.lock) {
	case "counter":
		_, ok := p.read("n")
		return ok
	case "list":
		chapter, ok := p.read(chapterKey)
		first := int64(1)
		if inDocument(p.lock) {
			first = max(first, chapter.number-keptLists+1)
		}
		for k := first; ok && k <= chapter.number; k++ {
			_, ok = p.readList(k)
		}
		return ok
	case "set":
		_, ok := p.readSet()
		return ok
	}
	_, ok := p.readBank()
	return ok
}
