package fencingtest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fencelock/fencelock/fencing"
)

// folder is a fence of two files. It is right about a single process only, which
// is all that a crash needs.
type folder struct {
	dir       string
	step      func(string)
	dataFirst bool // the data is visible before the fence is raised
	inPlace   bool // files are written in place: half of a file can be what is left
	stuck     bool // what a dead process left behind stops the next one
	noSteps   bool // says nothing of its steps
}

func (f folder) Do(_ context.Context, op Op) (string, error) {
	if f.noSteps {
		f.step = func(string) {}
	}
	if err := op.Sequencer.CheckGuard(op.Guard); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(f.dir, "fence"))
	now, _ := strconv.ParseInt(string(text), 10, 64)
	highest := fencing.Token(now)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if op.Sequencer.Token < highest {
		return "", &fencing.StaleError{Guard: op.Guard, Token: op.Sequencer.Token, Highest: highest}
	}
	raise := func() error { return f.put("fence", op.Sequencer.Token.String()) }
	change := func() error { return f.apply(op) }
	steps := []func() error{raise, change}
	if f.dataFirst {
		steps = []func() error{change, raise}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return "", err
		}
	}
	data, err := os.ReadFile(filepath.Join(f.dir, op.Key))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(data), err
}

func (f folder) apply(op Op) error {
	switch op.Kind {
	case Write:
		return f.put(op.Key, op.Value)
	case Delete:
		f.step("remove " + op.Key)
		return os.RemoveAll(filepath.Join(f.dir, op.Key))
	}
	return nil
}

func (f folder) put(name, text string) error {
	file := filepath.Join(f.dir, name)
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if f.stuck {
		flags |= os.O_EXCL
	}
	if f.inPlace {
		f.step("write " + name)
		if err := os.WriteFile(file, []byte(text[:1]), 0o600); err != nil {
			return err
		}
		f.step("write the rest of " + name)
		return os.WriteFile(file, []byte(text), 0o600)
	}
	f.step("write a new " + name)
	next, err := os.OpenFile(file+".new", flags, 0o600)
	if err != nil {
		return err
	}
	_, err = next.WriteString(text)
	if err := errors.Join(err, next.Close()); err != nil {
		return err
	}
	f.step("rename " + name)
	return os.Rename(file+".new", file)
}

func TestCrash(t *testing.T) {
	open := func(f folder) CrashHarness {
		return CrashHarness{Open: func(_ testing.TB, dir string, step func(string)) Resource {
			f.dir, f.step = dir, step
			return f
		}}
	}
	t.Run("right", func(t *testing.T) { Crash(t, open(folder{})) })
	for name, wrong := range map[string]folder{
		"data first": {dataFirst: true},
		"in place":   {inPlace: true},
		"stuck":      {stuck: true},
		"no steps":   {noSteps: true},
	} {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(crashVariable) != "" {
				Crash(t, open(wrong))
			}
			if texts := objectionsOf(t, func(tb testing.TB) {
				crash{TB: tb, harness: open(wrong), kind: Write, used: true}.killAtEachStep()
			}); len(texts) == 0 {
				t.Error("no objection")
			} else {
				t.Logf("objects: %s", texts[0])
			}
		})
	}
}
