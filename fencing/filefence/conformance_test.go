package filefence_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"github.com/fencelock/fencelock/fencing/fencingtest"
	"github.com/fencelock/fencelock/fencing/filefence"
)

// kind is how a folder uses filefence.
type kind struct {
	appends bool // a value is the last line of its file
	apart   bool // every operation opens the file anew, so that only the flock keeps them apart
}

// folder is a resource of one file for each key.
type folder struct {
	kind
	dir    string
	verify fencingtest.Verify
	step   func(string)

	mu    sync.Mutex
	files map[string]*filefence.File
}

func (f *folder) open(op fencingtest.Op) (*filefence.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := url.PathEscape(op.Guard) + " " + op.Key
	if file := f.files[name]; file != nil && !f.apart {
		return file, nil
	}
	file, err := filefence.New(filefence.Config{Path: filepath.Join(f.dir, name), Guard: op.Guard, Verify: f.verify})
	if err == nil {
		f.files[name] = file
		file.OnStep(f.step)
	}
	return file, err
}

func (f *folder) Do(ctx context.Context, op fencingtest.Op) (value string, err error) {
	file, err := f.open(op)
	if err != nil {
		return "", err
	}
	switch op.Kind {
	case fencingtest.Read:
		var data []byte
		data, err = file.Read(ctx, op.Sequencer)
		value = string(data[bytes.LastIndexByte(data, '\n')+1:])
	case fencingtest.Write:
		if f.appends {
			err = file.Append(ctx, op.Sequencer, []byte("\n"+op.Value))
		} else {
			err = file.Write(ctx, op.Sequencer, []byte(op.Value))
		}
	case fencingtest.Delete:
		err = file.Delete(ctx, op.Sequencer)
	case fencingtest.Advance:
		err = file.Advance(ctx, op.Sequencer)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return value, err
}

func newFolder(dir string, kind kind, verify fencingtest.Verify, step func(string)) *folder {
	return &folder{kind: kind, dir: dir, verify: verify, step: step, files: map[string]*filefence.File{}}
}

func TestConformance(t *testing.T) {
	for name, kind := range map[string]kind{
		"write":               {},
		"append":              {appends: true},
		"files opened anew":   {apart: true},
		"appends opened anew": {apart: true, appends: true},
	} {
		t.Run(name, func(t *testing.T) {
			fencingtest.Run(t, fencingtest.Harness{
				Open: func(t testing.TB, verify fencingtest.Verify) fencingtest.Resource {
					return newFolder(t.TempDir(), kind, verify, func(string) {})
				},
				Reopen: func(_ testing.TB, r fencingtest.Resource) fencingtest.Resource {
					old := r.(*folder)
					return newFolder(old.dir, old.kind, old.verify, old.step)
				},
				Without: map[fencingtest.Capability]string{
					fencingtest.Texts:    "it takes a fencing.Sequencer",
					fencingtest.ManyKeys: "each file has a fence of its own",
				},
			})
		})
	}
}

func TestCrash(t *testing.T) {
	for name, kind := range map[string]kind{"write": {}, "append": {appends: true}} {
		t.Run(name, func(t *testing.T) {
			fencingtest.Crash(t, fencingtest.CrashHarness{
				Open: func(_ testing.TB, dir string, step func(string)) fencingtest.Resource {
					return newFolder(dir, kind, nil, step)
				},
			})
		})
	}
}
