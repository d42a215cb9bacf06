package clock

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Clocks are the wall clocks of some processes, each for all the lives of its own.
type Clocks struct {
	dir   string
	names []string
}

// New makes clocks that are right. Their files lie in dir, and stay while a process
// uses them.
func New(dir string, processes ...string) (*Clocks, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c := &Clocks{dir, processes}
	for _, name := range processes {
		if err := c.Set(name, 0); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Env is what a process needs in its environment: nothing, if it has no clock here.
func (c *Clocks) Env(process string) []string {
	if c == nil || !slices.Contains(c.names, process) {
		return nil
	}
	return []string{"FENCELOCK_CHAOS_CLOCK=" + c.path(process)}
}

// Set makes a clock fast by this much, from now on; or slow, if it is negative.
func (c *Clocks) Set(process string, fast time.Duration) error {
	if c == nil || !slices.Contains(c.names, process) {
		return fmt.Errorf("set the clock of %s: it has the machine's", process)
	}
	f, err := os.OpenFile(c.path(process), os.O_CREATE|os.O_WRONLY, 0o644) // never shortened: it is mapped
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

func (c *Clocks) path(process string) string { return filepath.Join(c.dir, "clock."+process) }
