package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/server/v3/storage/schema"
)

// ErrDamaged: the file is no snapshot, or not a whole one. It is of no use; take
// another one.
var ErrDamaged = errors.New("no whole snapshot")

const (
	magic     = 0xED0CDAED // bbolt's, at the beginning of its first page
	magicAt   = 16         // behind the header of the page
	sectorLen = 512        // a database is a multiple of it
)

// checkSum reads a snapshot file and compares it with the SHA-256 at its end. It
// returns that sum, and the size of the database before it.
func checkSum(ctx context.Context, path string) (sum string, size int64, err error) {
	info, err := os.Stat(path) // before it is opened: a pipe would block until somebody writes
	switch {
	case err != nil:
		return "", 0, err
	case !info.Mode().IsRegular():
		return "", 0, fmt.Errorf("%s: %w: it is not a file", path, ErrDamaged)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	if err := checkHead(f); err != nil {
		return "", 0, fmt.Errorf("%s: %w", path, err)
	}
	size = info.Size() - sha256.Size
	if size%sectorLen != 0 {
		return "", 0, fmt.Errorf(`%s: %w: its size of %d bytes leaves no checksum at its end; it was cut off, or copied from a member's folder instead of taken with "snapshot save"`,
			path, ErrDamaged, info.Size())
	}
	sum, err = compareSum(ctx, f, size)
	if err != nil {
		return "", 0, fmt.Errorf("%s: %w", path, err)
	}
	return sum, size, nil
}

func checkHead(f *os.File) error {
	var head [magicAt + 4]byte
	_, err := f.ReadAt(head[:], 0)
	if errors.Is(err, io.EOF) || (err == nil && binary.NativeEndian.Uint32(head[magicAt:]) != magic) {
		return fmt.Errorf("%w: it does not begin like a database of etcd", ErrDamaged)
	}
	return err
}

func compareSum(ctx context.Context, f *os.File, size int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, interruptible{ctx, io.NewSectionReader(f, 0, size)}); err != nil {
		return "", err
	}
	want := make([]byte, sha256.Size)
	if _, err := f.ReadAt(want, size); err != nil {
		return "", err
	}
	if got := h.Sum(nil); !bytes.Equal(got, want) {
		return "", fmt.Errorf("%w: its SHA-256 is %x, and its end says %x: it was changed or cut off", ErrDamaged, got, want)
	}
	return hex.EncodeToString(want), nil
}

// interruptible reads until ctx ends.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// view runs read in a transaction of the database at path. What bbolt says of
// pages that make no sense, by a panic, is an error.
func view(path string, read func(*bbolt.Tx) error) (err error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: lockWait})
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %w: %v", path, ErrDamaged, p) // the database stays open: its locks are held
			return
		}
		err = errors.Join(err, db.Close())
	}()
	return db.View(func(tx *bbolt.Tx) error {
		if info, err := os.Stat(path); err != nil || tx.Size() > info.Size() {
			return errors.Join(err, fmt.Errorf("%s: %w: its database is larger than the file", path, ErrDamaged))
		}
		if tx.Bucket(schema.Key.Name()) == nil || tx.Bucket(schema.Meta.Name()) == nil {
			return fmt.Errorf("%s: %w: it is a database, but not etcd's", path, ErrDamaged)
		}
		return read(tx)
	})
}

// checkPages reads every page.
func checkPages(tx *bbolt.Tx) error {
	var first error
	for err := range tx.Check() { // to its end, or a goroutine stays
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, first)
	}
	return nil
}
