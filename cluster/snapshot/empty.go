package snapshot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/storage/schema"

	"github.com/fencelock/fencelock/cluster/disk"
)

// MaxFloor is the highest floor that can be asked for. Tokens stay below 2^53 for
// as long as anyone will look, so that languages without 64-bit integers read
// them as they are; and a floor that was mistyped can be put right.
const MaxFloor = 1 << 52

// Empty stages a database without data, whose next token is above floor. The
// bytes depend on nothing but floor.
func Empty(dir string, floor int64) error {
	if err := checkFloor(floor, 0); err != nil {
		return fmt.Errorf("stage a floor: %w", err)
	}
	err := stage(dir, func(s *store) error {
		if err := s.into(schema.Key.Name()); err != nil {
			return err
		}
		if err := s.into(schema.Meta.Name()); err != nil {
			return err
		}
		return s.putCompacted(floor)
	})
	if err != nil {
		return fmt.Errorf("stage a floor: %w", err)
	}
	return nil
}

// checkFloor refuses a floor that is not above revision. One beyond MaxFloor is for a
// snapshot that is there already.
func checkFloor(floor, revision int64) error {
	switch {
	case floor <= revision:
		return fmt.Errorf("floor %d: must be above %d", floor, revision)
	case floor > max(MaxFloor, revision+margin):
		return fmt.Errorf("floor %d: at most %d is allowed", floor, max(MaxFloor, revision+margin))
	}
	return nil
}

// stage makes dir's origin.db of what write puts. If that fails, nothing is left.
func stage(dir string, write func(*store) error) error {
	path := filepath.Join(dir, originDB)
	if err := os.RemoveAll(path + disk.Part); err != nil { // of a run that was killed
		return err
	}
	if err := writeStore(path+disk.Part, write); err != nil {
		return err
	}
	return disk.Complete(path)
}

// writeStore makes the database at path of what write puts, or nothing.
func writeStore(path string, write func(*store) error) error {
	s, err := createStore(path)
	if err != nil {
		return errors.Join(err, os.RemoveAll(path))
	}
	if err := write(s); err != nil {
		s.abandon()
		return errors.Join(err, os.RemoveAll(path))
	}
	if err := s.finish(); err != nil {
		return errors.Join(err, os.RemoveAll(path))
	}
	return nil
}
