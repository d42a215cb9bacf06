package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/fencelock/fencelock/cluster/disk"
)

// The files of a staged data folder.
const (
	originFile   = "origin.json"
	originDB     = "origin.db"
	memberFolder = "member" // etcd's own
)

// Origin says what a data folder begins with.
type Origin struct {
	Birth    string // 32 hex digits, random: no two stagings have the same
	Snapshot string // SHA-256 of origin.db in hex; empty if the folder begins with nothing
	Floor    int64  // every token is above it; 0 if none
}

// origin is an Origin in its file.
type origin struct {
	Birth    string `json:"birth"`
	Snapshot string `json:"snapshot"`
	Floor    string `json:"floor"`
}

// ReadOrigin returns the origin of a data folder, and false if it has none.
func ReadOrigin(dir string) (Origin, bool, error) {
	path := filepath.Join(dir, originFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Origin{}, false, nil
	}
	if err != nil {
		return Origin{}, false, fmt.Errorf("read origin: %w", err)
	}
	var in origin
	err = json.Unmarshal(text, &in)
	floor, atoi := strconv.ParseInt(in.Floor, 10, 64)
	o := Origin{Birth: in.Birth, Snapshot: in.Snapshot, Floor: floor}
	if err = errors.Join(err, atoi); err == nil {
		err = o.check()
	}
	if err != nil {
		return Origin{}, false, fmt.Errorf("%s is damaged: %w; empty the folder and begin again", path, err)
	}
	return o, true, nil
}

// WriteOrigin replaces the origin of a data folder, in one step that lasts.
func WriteOrigin(dir string, o Origin) error {
	if err := o.check(); err != nil {
		return fmt.Errorf("write origin: %w", err)
	}
	return disk.ReplaceJSON(filepath.Join(dir, originFile), origin{o.Birth, o.Snapshot, strconv.FormatInt(o.Floor, 10)})
}

func (o Origin) check() error {
	switch {
	case !isHex(o.Birth, 16):
		return fmt.Errorf("birth %q: want 32 hex digits", o.Birth)
	case o.Snapshot != "" && !isHex(o.Snapshot, sha256.Size):
		return fmt.Errorf("snapshot %q: want 64 hex digits", o.Snapshot)
	case o.Floor < 0:
		return fmt.Errorf("floor %d: want none, or one above 0", o.Floor)
	}
	return nil
}

func isHex(text string, size int) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == size
}

// Digest is the SHA-256 in hex of a folder's origin.db, empty if there is none.
func Digest(dir string) (string, error) {
	sum, err := digestOf(filepath.Join(dir, originDB))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", originDB, err)
	}
	return sum, nil
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}
