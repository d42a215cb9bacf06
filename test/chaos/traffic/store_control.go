package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/fencelock/fencelock/fencing"
)

// controlTarget has no fence: what it shows is what a lock service alone protects.
type controlTarget struct{ folder string }

// open ignores the token, as an application does that knows only locks.
func (t controlTarget) open(seq fencing.Sequencer) (store, error) {
	return &controlStore{path: filepath.Join(t.folder, "control-"+fileName(seq.Lock))}, nil
}

func (controlTarget) close() error { return nil }

// fileName is that of a guard's file.
func fileName(lock string) string { return strings.ReplaceAll(lock, "/", "-") + ".json" }

// controlStore reads the document once in a hold, since nobody else can change it while
// the lock is held, and writes it whole with each change.
type controlStore struct {
	path string
	read document // nil: not yet
}

func (s *controlStore) Get(_ context.Context, key string) (string, bool, error) {
	if err := s.load(); err != nil {
		return "", false, err
	}
	value, found := s.read[key]
	return value, found, nil
}

func (s *controlStore) List(_ context.Context, prefix string) (map[string]string, error) {
	if err := s.load(); err != nil {
		return nil, err
	}
	return s.read.under(prefix), nil
}

func (s *controlStore) Put(_ context.Context, key, value string) error {
	return s.change(func(d document) { d.put(key, value) })
}

func (s *controlStore) Delete(_ context.Context, key string) error {
	return s.change(func(d document) { delete(d, key) })
}

func (s *controlStore) Apply(_ context.Context, values map[string]string) error {
	return s.change(func(d document) { maps.Copy(d, values) })
}

func (s *controlStore) load() error {
	if s.read != nil {
		return nil
	}
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.read = document{}
		return nil
	}
	if err != nil {
		return err
	}
	s.read, err = decodeDocument(text)
	return err
}

func (s *controlStore) change(edit func(document)) error {
	if err := s.load(); err != nil {
		return err
	}
	edit(s.read)
	text, err := json.Marshal(s.read)
	if err == nil {
		err = replaceFile(s.path, text)
	}
	if err != nil {
		s.read = nil
	}
	return err
}

// replaceFile puts a file there in one step. After an error the old one is there.
func replaceFile(path string, text []byte) error {
	next, err := os.CreateTemp(filepath.Dir(path), ".next-*")
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	err = errors.Join(err, next.Close())
	if err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(next.Name()))
	}
	return err
}
