//go:build linux

package world

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// diskSize has room for etcd's log, at most six files of 64 MiB, and for a database
// and its snapshots. Images are sparse: what was never written takes no room.
const diskSize = 768 << 20

// Disk is the file system of a member, PostgreSQL or Redis.
type Disk struct {
	at    string // the folder where it is mounted; a plain one, without an image
	image string // empty: none

	mu sync.Mutex // held by each change
}

// NewDisk makes a disk below a folder: as an image, which takes root and loop
// devices, or as a plain folder. What is there when it fails, Close unmounts.
func NewDisk(folder, name string, image bool) (*Disk, error) {
	d := &Disk{at: filepath.Join(folder, name)}
	if err := os.Mkdir(d.at, 0o755); err != nil {
		return nil, err
	}
	if image {
		d.image = d.at + ".img"
		if err := d.format(); err != nil {
			return d, err
		}
	}
	return d, d.begin()
}

// begin makes the owner's folder, which outlives a power cut.
func (d *Disk) begin() error {
	if err := os.Mkdir(d.Dir(), 0o700); err != nil {
		return err
	}
	return d.sync()
}

// sync puts all that is written on the disk, whether its owner asks for it or not.
func (d *Disk) sync() error {
	if d.image == "" {
		return nil
	}
	f, err := os.Open(d.at)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// format mounts an empty file system. Nothing is left to be done later, in the
// background: see Copy.
func (d *Disk) format() error {
	f, err := os.Create(d.image)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(diskSize), f.Close()); err != nil {
		return err
	}
	if _, err := run("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", d.image); err != nil {
		return err
	}
	return d.mount()
}

func (d *Disk) mount() error {
	_, err := run("mount", "-o", "loop", d.image, d.at)
	return err
}

// unmount waits for the last file of an owner that was killed.
func (d *Disk) unmount() error {
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := unix.Unmount(d.at, 0)
		if !errors.Is(err, unix.EBUSY) || time.Now().After(deadline) {
			if err != nil {
				err = fmt.Errorf("unmount %s: %w", d.at, err)
			}
			return err
		}
		<-tick.C
	}
}

// Dir is the folder for its owner's data.
func (d *Disk) Dir() string { return filepath.Join(d.at, "data") }

// Copy keeps what the disk would hold if the power failed now: what its owner has
// not synced may not be there. The owner is paused.
func (d *Disk) Copy() error {
	if d.image == "" {
		return errors.ErrUnsupported
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for range 20 {
		before, err := d.writes()
		if err != nil {
			return err
		}
		if _, err := run("cp", "--sparse=always", d.image, d.copied()); err != nil {
			return err
		}
		after, err := d.writes()
		if err != nil {
			return err
		}
		// The kernel may write meanwhile, of its own accord: then the copy would be of
		// no single moment.
		if before == after && strings.HasSuffix(before, " 0") {
			return nil
		}
	}
	return fmt.Errorf("the disk %s does not come to rest", d.at)
}

// writes is how many writes and flushes the disk has seen, and how many requests
// are under way.
func (d *Disk) writes() (string, error) {
	device, err := d.device()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join("/sys/block", device, "stat"))
	if err != nil {
		return "", err
	}
	// Documentation/block/stat.rst: [4] write I/Os, [8] in flight, [15] flush I/Os.
	stat := strings.Fields(string(text))
	if len(stat) < 16 {
		return "", fmt.Errorf("%s: %q", device, text)
	}
	return stat[4] + " " + stat[15] + " " + stat[8], nil
}

// device is the name of the loop device below the mount.
func (d *Disk) device() (string, error) {
	for _, m := range mounts() {
		if m.at == d.at {
			return filepath.Base(m.source), nil
		}
	}
	return "", fmt.Errorf("%s is not mounted", d.at)
}

func (d *Disk) copied() string { return d.image + ".copy" }

// Restore puts the copy in the disk's place. The owner has been killed.
func (d *Disk) Restore() error {
	if d.image == "" {
		return errors.ErrUnsupported
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := os.Stat(d.copied()); err != nil {
		return err
	}
	if err := d.unmount(); err != nil {
		return err
	}
	if err := os.Rename(d.copied(), d.image); err != nil {
		return errors.Join(err, d.mount())
	}
	return d.mount()
}

// Fill takes all but about 1 MiB of the room.
func (d *Disk) Fill() (free func() error, err error) {
	if d.image == "" {
		return nil, errors.ErrUnsupported
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	hog := filepath.Join(d.at, "hog")
	free = func() error {
		if err := os.Remove(hog); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := occupy(hog, 1<<20); err != nil {
		return nil, errors.Join(err, free())
	}
	return free, nil
}

// occupy takes all but so many bytes of a file system.
func occupy(path string, left uint64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var size int64
	for range 100 {
		var fs unix.Statfs_t
		if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
			return err
		}
		room := fs.Bavail * uint64(fs.Bsize)
		if room <= left+64<<10 { // the file's own index takes some
			return nil
		}
		more := int64(room - left)
		if err := unix.Fallocate(int(f.Fd()), 0, size, more); err != nil {
			return fmt.Errorf("occupy %d bytes: %w", more, err)
		}
		size += more
	}
	return nil
}

// Wipe empties Dir. The owner has ended.
func (d *Disk) Wipe() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := os.RemoveAll(d.Dir()); err != nil {
		return err
	}
	return d.begin()
}

// Close unmounts the image.
func (d *Disk) Close() error {
	if d.image == "" {
		return nil
	}
	if _, err := d.device(); err != nil {
		return nil // it never was mounted, or Restore has failed half-way
	}
	return d.unmount()
}
