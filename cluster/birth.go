package cluster

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/fencelock/fencelock/cluster/bootstrap"
	"github.com/fencelock/fencelock/cluster/disk"
	"github.com/fencelock/fencelock/cluster/snapshot"
)

// A folder in which no member ever ran tells its birth from origin.json, and what
// its cluster began with from decision.json. Once etcd's log exists, the file ran
// says so: data that is missing later has been lost.

func (f *folder) decisionPath() string { return filepath.Join(f.path, "decision.json") }
func (f *folder) ranPath() string      { return filepath.Join(f.path, "ran") }

// bear gives a folder without data its birth, on disk, unless it has one. A folder
// with another floor than the last command's is another folder: peers may have
// decided on the first floor. So is one whose floor was taken from a clock that has
// been set back since: the next cluster made above the present would begin below it.
func (f *folder) bear(cfg Config) error {
	origin, born, err := snapshot.ReadOrigin(f.path)
	if err != nil {
		return err
	}
	decision, err := f.decision()
	switch {
	case err != nil:
		return err
	case decision != nil && !born:
		return errors.New("it has a decision.json, but no origin.json; empty the folder")
	case decision != nil:
		return decidedFloor(origin, *decision, cfg)
	case born && origin.Snapshot != "":
		return nil
	}
	floor, err := proposedFloor(cfg)
	if err != nil {
		return err
	}
	if born && f.floorGiven() == floorText(cfg) && (cfg.TokenFloor != FloorNow || origin.Floor <= floor) {
		return nil
	}
	// The old command's floor must not be taken for that of the new birth, should
	// this end halfway.
	if err := os.Remove(f.identityPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace identity: %w", err)
	}
	return snapshot.WriteOrigin(f.path, snapshot.Origin{Birth: newBirth(), Floor: floor})
}

// decidedFloor refuses a command that asks for another floor than was decided on.
func decidedFloor(origin snapshot.Origin, d bootstrap.Decision, cfg Config) error {
	if origin.Snapshot != "" || cfg.TokenFloor == FloorNow || cfg.TokenFloor == d.Floor {
		return nil
	}
	return fmt.Errorf("%w: it began with token floor %d, and this start asks for %d; use the first, or empty the folders of all members",
		ErrInterrupted, d.Floor, cfg.TokenFloor)
}

func newBirth() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails: see its documentation
	return hex.EncodeToString(id)
}

// proposedFloor is above every revision of a cluster that made less than a million
// writes per second since 1970, if now is asked for.
func proposedFloor(cfg Config) (int64, error) {
	if cfg.TokenFloor == FloorNow {
		return snapshot.ClockFloor(time.Now())
	}
	return cfg.TokenFloor, nil
}

func floorText(cfg Config) string {
	switch cfg.TokenFloor {
	case 0:
		return ""
	case FloorNow:
		return "now"
	}
	return strconv.FormatInt(cfg.TokenFloor, 10)
}

// floorGiven is the floor that the last command on a folder without data asked for.
func (f *folder) floorGiven() string {
	id, err := readIdentity(f.identityPath())
	if err != nil {
		return "unknown"
	}
	return id.TokenFloor
}

// decision returns nil if there is none.
func (f *folder) decision() (*bootstrap.Decision, error) {
	data, err := os.ReadFile(f.decisionPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read decision: %w", err)
	}
	var d bootstrap.Decision
	if err := json.Unmarshal(data, &d); err != nil || len(d.Births) == 0 {
		return nil, fmt.Errorf("its decision.json is damaged (%w); empty the folder", err)
	}
	return &d, nil
}

// recordDecision is called once in a folder's life.
func (f *folder) recordDecision(d bootstrap.Decision) error {
	return disk.ReplaceJSON(f.decisionPath(), d)
}

// ran reports whether etcd's log was here once.
func (f *folder) ran() bool {
	_, err := os.Lstat(f.ranPath())
	return !errors.Is(err, fs.ErrNotExist)
}

// noteRan is called when etcd's log exists, and before clients are served.
func (f *folder) noteRan() error {
	if f.ran() {
		return nil
	}
	if err := disk.Replace(f.ranPath(), []byte("etcd has run in this folder; do not delete this file alone, nor the data beside it\n")); err != nil {
		return fmt.Errorf("note that the member ran: %w", err)
	}
	return nil
}
