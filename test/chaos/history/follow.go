package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

// Follower reads histories while they are written.
type Follower struct {
	lives map[string]*life
}

// life is one file, as far as it was read.
type life struct {
	path   string
	offset int64
	ops    []Op
	at     map[int]int // where in ops an ID is
}

// NewFollower follows nothing yet.
func NewFollower() *Follower { return &Follower{lives: map[string]*life{}} }

// Poll reads what is new in these files, and calls seen with each operation whose
// outcome has become known.
func (f *Follower) Poll(paths []string, seen func(Op)) error {
	for _, path := range paths {
		l := f.lives[path]
		if l == nil {
			l = &life{path: path, at: map[int]int{}}
			f.lives[path] = l
		}
		if err := l.poll(seen); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// Ops is all that was read, in the order in which it was called.
func (f *Follower) Ops() []Op {
	var ops []Op
	for _, l := range f.lives {
		ops = append(ops, l.ops...)
	}
	slices.SortFunc(ops, byCall)
	return ops
}

// poll reads whole lines only: the last one may be written by half, now or for good.
func (l *life) poll(seen func(Op)) error {
	file, err := os.Open(l.path)
	if os.IsNotExist(err) {
		return nil // its process has only just begun
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(l.offset, io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return nil
		}
		if err := l.add(line, seen); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		l.offset += int64(len(line)) + 1
		text = rest
	}
}

func (l *life) add(line []byte, seen func(Op)) error {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if e.Phase == Call {
		l.at[e.ID] = len(l.ops)
		e.Outcome = Unknown
		l.ops = append(l.ops, Op{Event: e, Call: e.At, Return: Never})
		return nil
	}
	i, ok := l.at[e.ID]
	if !ok {
		return fmt.Errorf("a return without a call")
	}
	delete(l.at, e.ID)
	l.ops[i].close(e)
	seen(l.ops[i])
	return nil
}
