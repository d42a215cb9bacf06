package client

import (
	"context"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Where a lock goes round among the same sessions, each of them waits for the same
// key time after time. So a watch is kept for a moment after its wait: the next one
// for the same target needs no other, and no read to learn what happened before
// that was confirmed. Why a kept watch is as good as a new one:
//
//	a claim ahead that    it is known from a read at some revision, standing.at. The
//	ended too early       watch tells of every end after endWatch.from. Only if the read
//	                      is not older than that, nothing lies between the two; else
//	                      the queue is read first
//	a key that comes      ends up to that read were of earlier claims, and are passed
//	back                  over. The first one after it is the end of the claim ahead,
//	                      whatever has been put under its key since
//	a compaction, a       the watch is closed, as etcd's client does not go on with it
//	member without a      then. Whoever uses it next sees that, reads the queue, and
//	leader, a refusal     begins another
//	a change of leader    leaves watches alone: the member that serves one stays, and
//	                      tells of ends in the order of their revisions
//	a cut connection      etcd's client goes on where the watch was, so that no end is
//	                      left out; where it cannot, see compaction
//	a member that hangs   the second watch of a waiter finds out, and the stream is given
//	                      up; what was kept on it is not used again
//	a lost event          the queue is read every few seconds, watch or no watch
//	the session's end     ends its watches, used or kept: they live in its context
//
// The watch of a waiter that is next in the queue (standing.next) covers its own
// claim too. A single watch tells of ends in the order of their revisions, and of
// all those of one revision together. So when it tells that the claim ahead has ended
// at revision r, and has not told of the end of the own claim, that one was there at r;
// nobody else was before it at standing.at, and nobody can have come in between since
// then: it holds from r on, and no read need say so. With two watches, one for each
// key, this would be wrong: etcd keeps no order between watches that fall behind.
const (
	// keepWatch is for how long a watch waits for its next use.
	keepWatch = 3 * time.Second

	// maxKept is how many watches of a session do, for the locks that it waited for
	// last.
	maxKept = 16
)

// endWatch is a confirmed watch for ends.
type endWatch struct {
	target target
	stream int64              // see onStream
	end    clientv3.WatchChan // closed when the watch is over
	from   int64              // it tells of every end after this revision
	cancel context.CancelFunc
	expiry *time.Timer // while it is kept
}

// keptWatches are those of a session that no wait uses at the moment.
type keptWatches struct {
	mu   sync.Mutex
	idle []*endWatch // the one that was used last comes last
}

// watch watches for the end of a target: with a watch that was kept, or a new one.
// It waits for that only while ctx lasts. The caller must give it to doneWith.
func (s *Session) watch(ctx context.Context, t target) (*endWatch, error) {
	if w := s.kept.take(t); w != nil {
		if w.stream == s.client.watchStream.Load() {
			return w, nil
		}
		w.cancel()
	}
	w := &endWatch{target: t, stream: s.client.watchStream.Load()}
	watching, cancel := context.WithCancel(s.ctx) // it may outlive the wait
	w.cancel = cancel
	unbind := context.AfterFunc(ctx, cancel)
	var err error
	w.end, w.from, err = s.client.watchEnd(watching, t)
	if cut := !unbind(); err == nil && cut {
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return w, nil
}

// doneWith ends the use of a watch. One that works is kept.
func (s *Session) doneWith(w *endWatch, works bool) {
	if !works || s.ctx.Err() != nil {
		w.cancel()
		return
	}
	s.kept.put(w)
}

// take returns a watch for the target, nil if none is kept.
func (k *keptWatches) take(t target) *endWatch {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.idle, func(w *endWatch) bool { return w.target == t })
	if i < 0 {
		return nil
	}
	return k.remove(i)
}

// put keeps a watch, and ends the one that was not used for longest if there are
// too many.
func (k *keptWatches) put(w *endWatch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.idle) == maxKept {
		k.remove(0).cancel()
	}
	k.idle = append(k.idle, w)
	w.expiry = time.AfterFunc(keepWatch, func() { k.expire(w) })
}

// expire ends a watch, unless it has been taken meanwhile.
func (k *keptWatches) expire(w *endWatch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.Index(k.idle, w); i >= 0 {
		k.remove(i).cancel()
	}
}

// remove takes the i-th watch out; the caller holds mu.
func (k *keptWatches) remove(i int) *endWatch {
	w := k.idle[i]
	w.expiry.Stop()
	k.idle = slices.Delete(k.idle, i, i+1)
	return w
}
