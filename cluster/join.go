package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/cluster/members"
	"github.com/fencelock/fencelock/cluster/snapshot"
)

// Via is the way to a running cluster, for Join.
type Via struct {
	Endpoints          []string    // client addresses of members, host:port or URLs
	TLS                *tls.Config // nil: none
	Username, Password string      // of a user with the role root, if the cluster asks for users
}

const (
	// joinTimeout is Config.StartTimeout's default for Join: a member that joins
	// waits for its turn, and then for all data.
	joinTimeout = 10 * time.Minute

	// loginTime bounds the log-in with which a client of a cluster with users begins.
	loginTime = 10 * time.Second
)

// Join makes this member one of a running cluster, and runs it: it adds itself as a
// learner, catches up and is promoted. It returns when the member votes.
//
//	folder:   empty ──▶ join.json ──▶ join.json and data ──────────────────▶
//	cluster:  none ───▶ learner ────▶ learner that runs ───▶ voter ────────▶
//
// Interrupted anywhere, the same call goes on from there. Once the member votes, it
// starts without asking anybody. A learner that is at this member's address
// already, but has never run, is replaced: its id may have been used by a folder
// that is lost.
//
// cfg.InitialCluster and cfg.Existing need not be set; cfg.StartTimeout bounds all
// of it and defaults to 10 min.
func Join(ctx context.Context, cfg Config, via Via) (*Member, error) {
	cfg.StartTimeout = orDefault(cfg.StartTimeout, joinTimeout)
	cfg.Existing, cfg.InitialCluster = true, nil
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("member configuration: %w", err)
	}
	if err := cfg.checkFiles(); err != nil { // before the cluster is asked for anything
		return nil, fmt.Errorf("member configuration: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.StartTimeout)
	defer cancel()
	j := &joiner{cfg: cfg, via: via}
	m, err := j.join(ctx)
	if err != nil {
		return nil, fmt.Errorf("join as member %q: %w", cfg.Name, err)
	}
	return m, nil
}

// joiner is one call of Join.
type joiner struct {
	cfg Config
	via Via
}

func (j *joiner) join(ctx context.Context) (*Member, error) {
	m, err := j.start(ctx)
	if err != nil {
		return nil, err
	}
	if m.votes() {
		return m, nil
	}
	if err := j.promote(ctx, m); err != nil {
		return nil, errors.Join(fmt.Errorf("it has caught up and is a learner: %w; the same command goes on from there", err), m.Close())
	}
	return m, nil
}

// start returns the member once it has caught up.
func (j *joiner) start(ctx context.Context) (*Member, error) {
	folder, err := openFolder(j.cfg)
	if err != nil {
		return nil, err
	}
	if err := mayJoin(folder); err != nil {
		folder.close()
		return nil, fmt.Errorf("data folder %s: %w", folder.path, err)
	}
	if !folder.hasData() {
		return j.enter(ctx, folder)
	}
	return startIn(ctx, j.cfg, folder)
}

// mayJoin refuses a folder that is neither fresh nor that of a member that joined.
func mayJoin(f *folder) error {
	if f.hasData() {
		_, err := readPass(f)
		return err
	}
	if f.ran() {
		return fmt.Errorf("%w: a member ran in it, and its data is gone; empty the folder, run \"fencelock member replace\" for that member, and then this command again", ErrReplace)
	}
	decision, err := f.decision()
	if decision != nil {
		return fmt.Errorf("%w: it is that of a new cluster; finish that one with --peers, or empty the folder", ErrInterrupted)
	}
	origin, _, staged := snapshot.ReadOrigin(f.path)
	if origin.Snapshot != "" {
		return fmt.Errorf("%w: it holds a snapshot that was restored for a new cluster; start that one, or use another folder", ErrForeignFolder)
	}
	return errors.Join(err, staged)
}

// dial connects to the cluster. The client is to be closed.
func (j *joiner) dial(ctx context.Context, endpoints []string) (*clientv3.Client, *members.Change, error) {
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints:   endpoints,
		TLS:         j.via.TLS,
		Username:    j.via.Username,
		Password:    j.via.Password,
		DialTimeout: loginTime,
		Context:     ctx,
		Logger:      j.cfg.Logger.Named("etcd").WithOptions(zap.IncreaseLevel(zap.ErrorLevel)), // it warns of every retry
	})
	if err != nil {
		return nil, nil, fmt.Errorf("connect to %s: %w", strings.Join(endpoints, ", "), members.Refusal(err))
	}
	return etcd, members.NewChange(members.Config{Etcd: etcd, Waiting: members.Log(j.cfg.Logger)}), nil
}
