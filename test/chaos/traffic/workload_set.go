package traffic

import (
	"context"
	"maps"
	"slices"

	"github.com/fencelock/fencelock/test/chaos/history"
)

const (
	// maxElements is how large the set gets.
	maxElements = 40

	// removes is the chance in a hundred that a holder takes one out of a smaller set.
	removes = 45

	elementPrefix = "e/"
)

// change adds an element to the set, or takes one out.
func (p *part) change(ctx context.Context) {
	elements, ok := p.readSet()
	if !ok || !p.may(ctx) {
		return
	}
	if len(elements) >= maxElements || len(elements) > 0 && p.percent(removes) {
		p.remove(elements[p.rand.IntN(len(elements))])
		return
	}
	p.do(history.Event{Kind: history.Add}, func(ctx context.Context, e *history.Event) error {
		return p.store.Put(ctx, elementPrefix+e.Value, e.Value)
	})
}

func (p *part) remove(element string) {
	p.do(history.Event{Kind: history.Delete, Value: element}, func(ctx context.Context, e *history.Event) error {
		return p.store.Delete(ctx, elementPrefix+element)
	})
}

// readSet reads all elements.
func (p *part) readSet() (elements []string, ok bool) {
	ok = p.do(history.Event{Kind: history.List}, func(ctx context.Context, e *history.Event) error {
		found, err := p.store.List(ctx, elementPrefix)
		if err != nil {
			return err
		}
		elements = slices.Sorted(maps.Values(found))
		e.Items = elements
		return nil
	})
	return elements, ok
}
