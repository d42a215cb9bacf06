package traffic

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/fencelock/fencelock/test/chaos/history"
)

// register is what most keys hold. The zero register is that of a key that is not
// there.
type register struct {
	number int64
	id     string // of the write that left it
}

func (r register) String() string { return fmt.Sprintf("%d %s", r.number, r.id) }

func parseRegister(text string) (register, error) {
	number, id, ok := strings.Cut(text, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || id == "" {
		return register{}, fmt.Errorf("%w: %q is no register", errGarbled, text)
	}
	return register{n, id}, nil
}

// round is one read, thought and write. Shared holders only read.
func (p *part) round(ctx context.Context) {
	switch history.Workload(p.lock) {
	case "counter":
		p.count(ctx)
	case "list":
		p.append(ctx)
	case "set":
		p.change(ctx)
	case "bank":
		p.transfer(ctx)
	}
}

// may thinks, and reports whether the round may go on to its write. If a standstill was
// asked for, it comes here.
func (p *part) may(ctx context.Context) bool {
	if p.mode == history.Shared {
		return false
	}
	p.think(ctx)
	if p.aimed(p.lock) {
		p.still.meet()
	}
	return true
}

// read reads a register.
func (p *part) read(key string) (now register, ok bool) {
	ok = p.do(history.Event{Kind: history.Get, Key: key}, func(ctx context.Context, e *history.Event) error {
		text, found, err := p.store.Get(ctx, key)
		if err != nil || !found {
			return err
		}
		if now, err = parseRegister(text); err != nil {
			return err
		}
		e.Seen, e.Sum = now.id, now.number
		return nil
	})
	return now, ok
}

// write puts a number into a register, over what was read there.
func (p *part) write(key string, number int64, over register) (now register, ok bool) {
	ok = p.do(history.Event{Kind: history.Put, Key: key, Prev: over.id}, func(ctx context.Context, e *history.Event) error {
		now = register{number, e.Value}
		return p.store.Put(ctx, key, now.String())
	})
	return now, ok
}

func (p *part) count(ctx context.Context) {
	now, ok := p.read("n")
	if ok && p.may(ctx) {
		p.write("n", now.number+1, now)
	}
}
