package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/fencelock/fencelock/cluster/disk"
)

// pass is the content of join.json: as which member of which cluster this folder
// was admitted. It is written before etcd starts. Data without it is of a member
// that has not joined: a single node on its folder would take no notice of Join and
// go on as a cluster of its own.
type pass struct {
	Cluster string `json:"cluster"` // ids in hex
	Member  string `json:"member"`
}

func hexID(id uint64) string { return strconv.FormatUint(id, 16) }

func (f *folder) passPath() string { return filepath.Join(f.path, "join.json") }

func readPass(f *folder) (p pass, err error) {
	data, err := os.ReadFile(f.passPath())
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("%w: it holds data of a member that did not join; start it without --join, or use another folder", ErrForeignFolder)
	}
	if err != nil {
		return p, fmt.Errorf("read join.json: %w", err)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("%w: its join.json is damaged (%w)", ErrForeignFolder, err)
	}
	return p, nil
}

// passIs reports whether the folder was admitted as this member.
func (f *folder) passIs(cluster, member uint64) bool {
	p, err := readPass(f)
	return err == nil && p == pass{Cluster: hexID(cluster), Member: hexID(member)}
}

// writePass replaces the file in one step and syncs it.
func writePass(f *folder, p pass) error {
	return disk.ReplaceJSON(f.passPath(), p)
}
