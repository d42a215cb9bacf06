package filefence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/fencelock/fencelock/fencing"
)

// The wait between two tries to lock the side file grows from the first to the
// second. A goroutine blocked in flock(2) could not be called back when its
// context ends.
const (
	shortestWait = time.Millisecond
	longestWait  = 32 * time.Millisecond
)

// grip is the hold of one operation on a file: the turn among the operations of
// its File, and the lock of the side file.
type grip struct {
	*File
	path   string            // of the file, links followed
	side   *os.File          // locked
	record fencing.Sequencer // what the side file says; zero: nothing yet
}

// grasp waits for turn and lock.
func (f *File) grasp(ctx context.Context) (*grip, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another operation: %w", context.Cause(ctx))
	}
	g := &grip{File: f}
	if err := g.lock(ctx); err != nil {
		g.release()
		if errors.Is(err, fs.ErrNotExist) { // the folder; must not look like a missing file behind a claimed fence
			return nil, fmt.Errorf("the fence was not claimed: %v", err)
		}
		return nil, err
	}
	return g, nil
}

func (g *grip) release() {
	if g.side != nil {
		g.side.Close() // and so unlocked; nothing was written to it since it was synced
	}
	<-g.turn
}

// lock locks the side file, which it creates if there is none, and reads it.
func (g *grip) lock(ctx context.Context) (err error) {
	if g.path, err = resolve(g.config.Path); err != nil {
		return err
	}
	for wait := shortestWait; ; wait = min(2*wait, longestWait) {
		done, err := g.tryLock()
		if err != nil || done {
			return err
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return fmt.Errorf("wait for the lock of %s: %w", g.sidePath(), context.Cause(ctx))
		}
	}
}

// tryLock locks the side file if nobody else has, and reads it. If there is none,
// it is created.
func (g *grip) tryLock() (done bool, err error) {
	side, err := os.OpenFile(g.sidePath(), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return g.tryCreate()
	} else if err != nil {
		return false, err
	}
	defer func() {
		if !done {
			side.Close()
		}
	}()
	g.step("lock the side file")
	if held, err := tryHold(side, g.sidePath()); err != nil || !held {
		return false, err
	}
	text, err := io.ReadAll(io.LimitReader(side, maxRecord))
	if err != nil {
		return false, err
	}
	if g.record, err = decode(string(text)); err != nil {
		return false, fmt.Errorf("%s: %w", g.sidePath(), err)
	}
	g.side = side
	return true, nil
}

// tryHold locks f, opened under the name path, if nobody else has, and if it is
// still the one under that name: whoever raises the fence puts a new file there.
func tryHold(f *os.File, path string) (held bool, err error) {
	if locked, err := tryFlock(f); err != nil || !locked {
		return false, err
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, there), err
}

// sideMode lets whoever may use the file use its fence.
func (g *grip) sideMode() fs.FileMode {
	if info, err := os.Stat(g.path); err == nil {
		return info.Mode().Perm() | 0o600
	}
	return g.config.Mode | 0o600
}

func (g *grip) sidePath() string { return g.path + sideSuffix }

// admit compares seq with the fence, and raises it if seq's token is higher. When
// it returns nil, the fence is on the disk at seq's token.
func (g *grip) admit(ctx context.Context, seq fencing.Sequencer) error {
	if g.record != (fencing.Sequencer{}) {
		if err := seq.CheckGuard(g.record.Lock); err != nil {
			return err
		}
	}
	if seq.Token < g.record.Token {
		return &fencing.StaleError{Guard: seq.Lock, Token: seq.Token, Highest: g.record.Token}
	}
	if seq.Token == g.record.Token {
		return g.settle()
	}
	if g.config.Verify != nil {
		if err := g.config.Verify(ctx, seq); err != nil {
			return fmt.Errorf("verify %s: %w", seq, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return g.raise(seq)
}
