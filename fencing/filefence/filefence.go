package filefence

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"

	"github.com/fencelock/fencelock/fencing"
)

// Config of a fenced file. Path is required.
type Config struct {
	// Path of the file, which need not exist, in a folder that does. Names that
	// end in ".fence", ".fence.new", ".fence.tmp" and ".fence.data" are the fence's
	// own.
	Path string

	// Guard is the lock that guards the file. Empty: the lock whose holder comes
	// first, from then on.
	Guard string

	// Mode of a file that Write or Append creates, before umask; 0 means 0600. The
	// side file has the file's mode, and can be written by its owner.
	Mode fs.FileMode

	// Verify is asked about a token that would raise the fence; an error refuses
	// it, and nothing changes. The client's Check method is one. The file is locked
	// meanwhile. Nil: every token is believed, see the package comment.
	Verify func(ctx context.Context, seq fencing.Sequencer) error
}

// File is one fenced file. Its methods may be called from several goroutines, and
// several Files, in several processes, may share a path: one operation runs at a
// time, and the others wait for as long as their contexts allow. Once an operation
// is admitted it runs to its end.
//
// Besides what each method names, they return *fencing.StaleError when a newer
// holder has been here, fencing.ErrMissing, ErrMalformed or ErrWrongGuard, what
// Verify returned, and the file system's errors, wrapped. After an error other than
// fencing.ErrUncertain the file is as it was.
type File struct {
	config Config
	turn   chan struct{} // holds one element while an operation of this File runs
	step   func(string)  // called before each step that others can see; tests crash there

	// durable is the fence that this File knows to be on the disk: a path and its
	// record. It belongs to whoever has the turn.
	durable string
}

// New returns the file at cfg.Path. It does not touch it.
func New(cfg Config) (*File, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &File{config: cfg, turn: make(chan struct{}, 1), step: func(string) {}}, nil
}

func (c Config) withDefaults() Config {
	if c.Mode == 0 {
		c.Mode = 0o600
	}
	return c
}

func (c Config) validate() error {
	if err := supported(); err != nil {
		return fmt.Errorf("fence a file: %w", err)
	}
	if c.Mode != c.Mode.Perm() {
		return fmt.Errorf("mode %v: want permission bits only", c.Mode)
	}
	return checkPath(c.Path)
}

// Read returns what the file holds. If there is none, it returns fs.ErrNotExist,
// and has claimed the fence all the same.
func (f *File) Read(ctx context.Context, seq fencing.Sequencer) (data []byte, err error) {
	err = f.under(ctx, seq, "read", func(g *grip) error {
		data, err = g.read()
		return err
	})
	return data, err
}

// Write replaces what the file holds, or creates it. It returns
// fencing.ErrUncertain if the new file can be seen but may not outlast a power
// failure.
func (f *File) Write(ctx context.Context, seq fencing.Sequencer, data []byte) error {
	return f.under(ctx, seq, "write", func(g *grip) error {
		return g.write(bytes.NewReader(data))
	})
}

// Append adds data at the file's end, or creates it. It takes as long as writing
// the whole file, and is as safe: other readers see all of data or nothing of it.
// It returns fencing.ErrUncertain as Write does.
func (f *File) Append(ctx context.Context, seq fencing.Sequencer, data []byte) error {
	return f.under(ctx, seq, "append to", func(g *grip) error {
		old, err := g.open()
		if err != nil {
			return err
		}
		defer old.Close()
		return g.write(old, bytes.NewReader(data))
	})
}

// Delete removes the file and keeps the fence. If there is none, it returns
// fs.ErrNotExist; and fencing.ErrUncertain if the file is gone but may be back
// after a power failure.
func (f *File) Delete(ctx context.Context, seq fencing.Sequencer) error {
	return f.under(ctx, seq, "delete", (*grip).remove)
}

// Advance claims the fence and leaves the file alone: from its return on, no older
// holder can read or write it here. Every other operation does so too.
func (f *File) Advance(ctx context.Context, seq fencing.Sequencer) error {
	return f.under(ctx, seq, "advance the fence of", func(*grip) error { return nil })
}

// under runs work while the file is locked and seq is admitted.
func (f *File) under(ctx context.Context, seq fencing.Sequencer, doing string, work func(*grip) error) error {
	if err := f.run(ctx, seq, work); err != nil {
		return fmt.Errorf("%s %s: %w", doing, f.config.Path, err)
	}
	return nil
}

func (f *File) run(ctx context.Context, seq fencing.Sequencer, work func(*grip) error) error {
	guard := f.config.Guard
	if guard == "" {
		guard = seq.Lock // whether it is the file's, the side file knows
	}
	if err := seq.CheckGuard(guard); err != nil {
		return err
	}
	g, err := f.grasp(ctx)
	if err != nil {
		return err
	}
	defer g.release()
	if err := g.admit(ctx, seq); err != nil {
		return err
	}
	return work(g)
}
