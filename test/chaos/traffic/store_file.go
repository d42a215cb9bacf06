package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/filefence"
)

// fileTarget has one fenced file for each guard.
type fileTarget map[string]*filefence.File

func openFiles(cfg Config) (fileTarget, error) {
	files := fileTarget{}
	for _, workload := range cfg.Workloads {
		lock := lockName("file", workload)
		file, err := filefence.New(filefence.Config{Path: filepath.Join(cfg.Folder, "fenced-"+fileName(lock)), Guard: lock})
		if err != nil {
			return nil, err
		}
		files[lock] = file
	}
	return files, nil
}

func (t fileTarget) open(seq fencing.Sequencer) (store, error) {
	file := t[seq.Lock]
	if file == nil {
		return nil, fmt.Errorf("no file for %s", seq.Lock)
	}
	return fileStore{file, seq}, nil
}

func (fileTarget) close() error { return nil }

// fileStore reads and writes the whole document, each behind the fence. Between the
// two a newer holder may come: then the write is refused.
type fileStore struct {
	file *filefence.File
	seq  fencing.Sequencer
}

func (s fileStore) Get(ctx context.Context, key string) (string, bool, error) {
	d, err := s.read(ctx)
	value, found := d[key]
	return value, found, err
}

func (s fileStore) List(ctx context.Context, prefix string) (map[string]string, error) {
	d, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	return d.under(prefix), nil
}

func (s fileStore) Put(ctx context.Context, key, value string) error {
	return s.change(ctx, func(d document) { d.put(key, value) })
}

func (s fileStore) Delete(ctx context.Context, key string) error {
	return s.change(ctx, func(d document) { delete(d, key) })
}

func (s fileStore) Apply(ctx context.Context, values map[string]string) error {
	return s.change(ctx, func(d document) { maps.Copy(d, values) })
}

func (s fileStore) read(ctx context.Context) (document, error) {
	text, err := s.file.Read(ctx, s.seq)
	if errors.Is(err, fs.ErrNotExist) {
		return document{}, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeDocument(text)
}

func (s fileStore) change(ctx context.Context, edit func(document)) error {
	d, err := s.read(ctx)
	if err != nil {
		return err
	}
	edit(d)
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return s.file.Write(ctx, s.seq, text)
}
