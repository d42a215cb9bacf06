package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"

	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

// watchTime bounds how long a member may take to confirm a watch. A healthy one
// needs milliseconds; one that hangs is given up, and the next watch goes elsewhere.
const watchTime = 2 * time.Second

// watchStreams bounds the streams that are used in turn. etcd's client never closes
// one on which no watch was begun, as happens while no member can be reached; the
// next time round it is used, and then it ends.
const watchStreams = 8

// errWatchLate is why such a watch was given up.
var errWatchLate = fmt.Errorf("watch not confirmed within %v", watchTime)

var errWatchClosed = errors.New("the watch was closed")

// target is a key to watch, or every key with a prefix, or those from key up to end.
type target struct {
	key    string
	end    string // the first key beyond it; "": it is one key
	prefix bool
	puts   bool // its beginning matters too, not its end alone
}

// watchEnd watches for the end of a target, from now on. It returns when a member
// has confirmed the watch, and the revision that its data had then: what happened
// up to that one must be read.
//
// A watch starts at "now" and not at a known revision, because etcd serves a
// watch of the past only every 100 ms. It asks for a leader, so that a member
// that is cut off ends it; etcd's client does not resume such a watch, and its
// channel closes. The watch ends with ctx.
func (c *Client) watchEnd(ctx context.Context, t target) (end clientv3.WatchChan, from int64, err error) {
	stream := c.watchStream.Load()
	watching, giveUp := context.WithCancelCause(ctx)
	timer := time.AfterFunc(watchTime, func() { giveUp(errWatchLate) })
	defer timer.Stop()
	end = c.etcd.Watch(onStream(watching, stream), t.key, t.options()...) // waits for the member, as long as its context allows
	if from, err = confirmed(watching, end); err != nil {
		giveUp(err)
		if ctx.Err() == nil { // a wait that was cancelled says nothing against the member
			c.watchStream.CompareAndSwap(stream, (stream+1)%watchStreams)
		}
		return nil, 0, err
	}
	return end, from, nil
}

func (t target) options() []clientv3.OpOption {
	opts := []clientv3.OpOption{clientv3.WithCreatedNotify()}
	if !t.puts {
		opts = append(opts, clientv3.WithFilterPut())
	}
	switch {
	case t.prefix:
		opts = append(opts, clientv3.WithPrefix())
	case t.end != "":
		opts = append(opts, clientv3.WithRange(t.end))
	}
	return opts
}

// confirmed waits until a member has taken up a watch, and returns the revision of
// its data then.
func confirmed(ctx context.Context, watch clientv3.WatchChan) (revision int64, err error) {
	select {
	case first, ok := <-watch:
		if ok && first.Created && !first.Canceled {
			return first.Header.Revision, nil
		}
		return 0, fmt.Errorf("watch refused: %w", cmp.Or(whyCancelled(first), context.Cause(ctx), errWatchClosed))
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// whyCancelled is why a member has ended a watch, nil if it has not. The members
// give the reason as text; a refusal is known by it.
func whyCancelled(r clientv3.WatchResponse) error {
	if r.CancelReason == rpctypes.ErrGRPCPermissionDenied.Error() {
		return outcome.Refused("watch", rpctypes.ErrPermissionDenied)
	}
	return r.Err()
}

// onStream chooses the gRPC stream for a watch. etcd's client sends all watches
// whose contexts have the same metadata over one stream, which stays on one
// member; another number opens another stream, on the next member in turn.
func onStream(ctx context.Context, number int64) context.Context {
	ctx = metadata.AppendToOutgoingContext(ctx, "fencelock-stream", strconv.FormatInt(number, 10))
	return clientv3.WithRequireLeader(ctx)
}
