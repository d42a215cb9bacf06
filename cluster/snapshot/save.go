package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/cluster/disk"
)

var (
	// ErrExists: the file is there already. It was not touched.
	ErrExists = errors.New("exists already")

	// ErrSource: this member gave no snapshot, or one that is too old. Another one
	// may.
	ErrSource = errors.New("no snapshot from this member")
)

// silence is how long a member may send nothing in the middle of a snapshot.
const silence = 30 * time.Second

// SaveConfig says what to save, and where.
type SaveConfig struct {
	Path       string
	Force      bool     // replace Path if it exists
	AtLeast    int64    // the revision of the cluster, from [Revision]; what is older is refused
	Namespaces []string // for Info, as in [Verify]

	Progress func(done, total int64) // called for every piece; may be nil
}

// Revision asks a majority, through any member that etcd knows, for the cluster's
// revision. A member that is cut off cannot answer.
func Revision(ctx context.Context, etcd *clientv3.Client) (int64, error) {
	resp, err := etcd.Get(ctx, "fencelock", clientv3.WithKeysOnly())
	if err != nil {
		return 0, fmt.Errorf("read the cluster's revision: %w", err)
	}
	return resp.Header.Revision, nil
}

// Save writes what one member has to a file, with mode 0600. The file is complete,
// checked and on disk when it gets its name; until then it is Path + ".part", and
// when Save fails, nothing.
func Save(ctx context.Context, member *clientv3.Client, cfg SaveConfig) (Info, error) {
	info, err := save(ctx, member, cfg)
	if err != nil {
		return Info{}, fmt.Errorf("save snapshot: %w", err)
	}
	return info, nil
}

func save(ctx context.Context, member *clientv3.Client, cfg SaveConfig) (Info, error) {
	if err := cfg.checkPath(); err != nil {
		return Info{}, err
	}
	f, err := os.OpenFile(cfg.Path+disk.Part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return Info{}, err
	}
	err = receive(ctx, member, f, cfg.Progress)
	err = errors.Join(err, f.Sync(), f.Close())
	var info Info
	if err == nil {
		info, err = cfg.accept(ctx)
	}
	if err != nil {
		return Info{}, errors.Join(err, os.Remove(cfg.Path+disk.Part))
	}
	info.Path = cfg.Path
	return info, disk.Complete(cfg.Path)
}

func (cfg SaveConfig) checkPath() error {
	info, err := os.Stat(cfg.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(cfg.Path)); err != nil {
			return fmt.Errorf("the folder of %s: %w; make it first, or name another file", cfg.Path, err)
		}
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file; name one", cfg.Path)
	case !cfg.Force:
		return fmt.Errorf("%s %w; name another file, or replace it with --force", cfg.Path, ErrExists)
	}
	return nil
}

// accept checks what has arrived as [Verify] does, and that it is not too old.
func (cfg SaveConfig) accept(ctx context.Context) (Info, error) {
	info, err := Verify(ctx, cfg.Path+disk.Part, cfg.Namespaces...)
	switch {
	case errors.Is(err, ErrDamaged):
		return Info{}, fmt.Errorf("%w: %w", ErrSource, err)
	case err != nil:
		return Info{}, err
	case info.Revision < cfg.AtLeast:
		return Info{}, fmt.Errorf("%w: it ends at revision %d, and the cluster is at %d already: the member is cut off or far behind",
			ErrSource, info.Revision, cfg.AtLeast)
	}
	return info, cfg.checkPath() // somebody else may have been faster
}

// receive copies a member's snapshot to w. It ends when the member falls silent.
func receive(ctx context.Context, member *clientv3.Client, w io.Writer, progress func(done, total int64)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(silence, func() { cancel(fmt.Errorf("no answer for %v", silence)) })
	defer watchdog.Stop()
	stream, err := etcdserverpb.NewMaintenanceClient(member.ActiveConnection()).Snapshot(ctx, &etcdserverpb.SnapshotRequest{})
	if err != nil {
		return sourceError(ctx, err)
	}
	var done int64
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return sourceError(ctx, err)
		}
		watchdog.Reset(silence)
		if _, err := w.Write(piece.GetBlob()); err != nil {
			return err
		}
		done += int64(len(piece.GetBlob()))
		if progress != nil {
			progress(done, done+int64(piece.GetRemainingBytes()))
		}
	}
}

// sourceError is about the member, unless the caller has had enough.
func sourceError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrSource, rpctypes.Error(err))
}
