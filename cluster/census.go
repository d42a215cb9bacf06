package cluster

import (
	"context"
	"fmt"
	"strconv"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"github.com/fencelock/fencelock/client/queue"
	"github.com/fencelock/fencelock/cluster/monitor"
	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// censusPage is how many claims are in memory at a time; a claim has some 300 bytes.
const censusPage = 1000

// census counts while etcd is there to be asked.
func (m *Member) census(ctx context.Context) (census monitor.Census, err error) {
	if !m.attached(func() { census, err = m.count(ctx) }) {
		return monitor.Census{}, errStopping
	}
	return census, err
}

// count counts what is in the member's own data. It passes etcd's users by: its
// numbers name nothing.
func (m *Member) count(ctx context.Context) (monitor.Census, error) {
	t := tally{space: m.space, waitingFor: map[string]int{}, limits: map[string]int{}}
	rev := m.etcd.Server.KV().Rev()
	for prefix, add := range map[string]func(*mvccpb.KeyValue){m.space.Locks(""): t.claim, m.space.Semaphores(): t.permit} {
		if err := m.each(ctx, prefix, rev, add); err != nil {
			return monitor.Census{}, err
		}
	}
	t.endQueue()
	t.endSemaphores()
	fences, err := m.countFences(ctx, rev)
	if err != nil {
		return monitor.Census{}, err
	}
	leases, err := m.countLeases(ctx)
	if err != nil {
		return monitor.Census{}, err
	}
	t.census.Fences, t.census.Leases = fences, leases
	t.census.Revision, t.census.Alarms, t.census.Ready = rev, m.raised(), m.isReady(ctx)
	return t.census, nil
}

// each calls add for every key below prefix, in order.
func (m *Member) each(ctx context.Context, prefix string, rev int64, add func(*mvccpb.KeyValue)) error {
	from, to := []byte(prefix), []byte(clientv3.GetPrefixRangeEnd(prefix))
	for {
		page, err := m.etcd.Server.KV().Range(ctx, from, to, mvcc.RangeOptions{Rev: rev, Limit: censusPage})
		if err != nil {
			return fmt.Errorf("count %s: %w", prefix, err)
		}
		for _, kv := range page.KVs {
			add(kv)
		}
		if len(page.KVs) < censusPage {
			return nil
		}
		from = append(page.KVs[len(page.KVs)-1].Key, 0)
	}
}

func (m *Member) countFences(ctx context.Context, rev int64) (int, error) {
	prefix := m.space.Fence("")
	r, err := m.etcd.Server.KV().Range(ctx, []byte(prefix), []byte(clientv3.GetPrefixRangeEnd(prefix)), mvcc.RangeOptions{Rev: rev, CountOnly: true})
	if err != nil {
		return 0, fmt.Errorf("count fences: %w", err)
	}
	return r.Count, nil
}

func (m *Member) countLeases(ctx context.Context) (int, error) {
	list, err := m.etcd.Server.LeaseLeases(m.asRoot(ctx), &pb.LeaseLeasesRequest{})
	if err != nil {
		return 0, fmt.Errorf("count leases: %w", err)
	}
	n := 0
	for _, l := range list.Leases {
		if l.ID != TurnLease {
			n++
		}
	}
	return n, nil
}

// asRoot lets the member ask its own server where users have to log in.
func (m *Member) asRoot(ctx context.Context) context.Context {
	return m.etcd.Server.AuthStore().WithRoot(ctx)
}

// tally adds up a census, key by key. The claims of a lock come one after the
// other; those of a semaphore may have others' between them and its limit.
type tally struct {
	space  keys.Space
	census monitor.Census

	lock   string // whose queue is being read
	claims []queue.Claim

	waitingFor, limits map[string]int // claims and limits by semaphore
}

func (t *tally) claim(kv *mvccpb.KeyValue) {
	name, ok := t.space.LockOf(string(kv.Key))
	if !ok {
		return
	}
	if name != t.lock {
		t.endQueue()
		t.lock = name
	}
	c := queue.Claim{ClaimValue: keys.DecodeClaim(kv.Value), Token: fencing.Token(kv.CreateRevision)}
	t.seen(c.Since)
	t.claims = append(t.claims, c)
}

func (t *tally) endQueue() {
	queue.Sort(t.claims)
	holders, waiters := queue.Split(t.claims)
	if len(holders) > 0 {
		t.census.Held++
	}
	t.census.Waiters += len(waiters)
	t.claims = t.claims[:0]
}

func (t *tally) permit(kv *mvccpb.KeyValue) {
	name, limit, ok := t.space.SemaphoreOf(string(kv.Key))
	switch {
	case !ok:
	case limit:
		t.limits[name], _ = strconv.Atoi(string(kv.Value)) // a foreign value admits nobody
	default:
		t.seen(keys.DecodeClaim(kv.Value).Since)
		t.waitingFor[name]++
	}
}

func (t *tally) endSemaphores() {
	for name, claims := range t.waitingFor {
		held := min(claims, t.limits[name])
		t.census.Permits += held
		t.census.Waiters += claims - held
	}
}

// seen takes note of a claim's age. Claims of foreign clients have none.
func (t *tally) seen(since time.Time) {
	if !since.IsZero() && (t.census.Oldest.IsZero() || since.Before(t.census.Oldest)) {
		t.census.Oldest = since
	}
}
