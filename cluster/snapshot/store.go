package snapshot

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
)

const (
	// batch is how many bytes of keys and values go into one transaction: bbolt
	// keeps them all in memory.
	batch = 4 << 20

	// pageSize is etcd's on most machines. It is fixed so that a host with larger
	// memory pages makes the same bytes.
	pageSize = 4096

	// fill is how full pages become: nothing is ever put between, as in etcd.
	fill = 0.9
)

// store writes a new etcd database. Its bytes depend on nothing but what is put,
// and in which order. So a transaction has one bucket only: bbolt writes several
// in random order.
type store struct {
	db      *bbolt.DB
	tx      *bbolt.Tx // nil between two
	name    []byte    // of the bucket that puts go to
	pending int       // bytes put in tx
}

// createStore makes the database at path, which must not exist. Whoever calls it
// ends with finish or abandon.
func createStore(path string) (*store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		PageSize:     pageSize,
		FreelistType: bbolt.FreelistArrayType, // the other one takes any page that fits
		NoSync:       true,                    // finish syncs
		OpenFile:     createFile,
	})
	if err != nil {
		return nil, fmt.Errorf("create database: %w", err)
	}
	return &store{db: db}, nil
}

func createFile(path string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|os.O_CREATE|os.O_EXCL, mode)
}

// into makes a bucket, to which the next puts go.
func (s *store) into(name []byte) error {
	if err := s.commit(); err != nil {
		return err
	}
	tx, err := s.db.Begin(true)
	if err != nil {
		return fmt.Errorf("write database: %w", err)
	}
	s.tx, s.name, s.pending = tx, name, 0
	if _, err := tx.CreateBucketIfNotExists(name); err != nil {
		return fmt.Errorf("write database: bucket %s: %w", name, err)
	}
	return nil
}

// put keeps key and value, which must not change until the store is finished.
func (s *store) put(key, value []byte) error {
	if s.pending > batch {
		if err := s.into(s.name); err != nil {
			return err
		}
	}
	s.pending += len(key) + len(value)
	bucket := s.tx.Bucket(s.name)
	bucket.FillPercent = fill
	if err := bucket.Put(key, value); err != nil {
		return fmt.Errorf("write database: %w", err)
	}
	return nil
}

func (s *store) commit() error {
	if s.tx == nil {
		return nil
	}
	tx := s.tx
	s.tx = nil
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write database: %w", err)
	}
	return nil
}

// putCompacted makes revision the store's, and the whole of its history
// compacted. Then etcd goes on with revision + 1, whatever is in it.
func (s *store) putCompacted(revision int64) error {
	at := mvcc.RevToBytes(mvcc.Revision{Main: revision}, mvcc.NewRevBytes())
	return errors.Join(
		s.put(schema.FinishedCompactKeyName, at),
		s.put(schema.ScheduledCompactKeyName, at),
	)
}

// finish puts everything on disk.
func (s *store) finish() error {
	if err := s.commit(); err != nil {
		return errors.Join(err, s.db.Close())
	}
	return errors.Join(s.db.Sync(), s.db.Close())
}

// abandon closes what cannot be finished.
func (s *store) abandon() {
	if s.tx != nil {
		_ = s.tx.Rollback()
	}
	_ = s.db.Close()
}
