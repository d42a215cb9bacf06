package clock

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"time"
)

// Clock is the wall clock of one process, or of the lives of one after another.
type Clock struct{ path string }

// New makes a clock that is right. Its file must stay while a process uses it.
func New(path string) (Clock, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Clock{}, err
	}
	c := Clock{path}
	return c, c.Set(0)
}

// Env is what the process needs in its environment.
func (c Clock) Env() string { return "FENCELOCK_CHAOS_CLOCK=" + c.path }

// Set makes the clock fast by this much, from now on; or slow, if it is negative.
func (c Clock) Set(fast time.Duration) error {
	f, err := os.OpenFile(c.path, os.O_CREATE|os.O_WRONLY, 0o644) // never shortened: it is mapped
	if err != nil {
		return err
	}
	defer f.Close()
	var word [8]byte
	binary.NativeEndian.PutUint64(word[:], uint64(fast))
	if _, err := f.WriteAt(word[:], 0); err != nil { // one aligned word: seen whole
		return err
	}
	return f.Close()
}
