package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

// watchTime bounds how long a member may take to confirm a watch. A healthy one
// needs milliseconds; one that hangs is given up, and the next watch goes elsewhere.
const watchTime = 2 * time.Second

// errWatchLate is why such a watch was given up.
var errWatchLate = fmt.Errorf("watch not confirmed within %v", watchTime)

// watchEnds watches for the end of each key, from now on. It returns when a
// member has confirmed the watches: what happened before must be read.
//
// The watch starts at "now" and not at a known revision, because etcd serves a
// watch of the past only every 100 ms. It asks for a leader, so that a member
// that is cut off ends it; etcd's client does not resume such a watch, and the
// channel closes. The watches end with ctx.
func (c *Client) watchEnds(ctx context.Context, keys ...string) ([]clientv3.WatchChan, error) {
	stream := c.watchStream.Load()
	watching, giveUp := context.WithCancelCause(ctx)
	timer := time.AfterFunc(watchTime, func() { giveUp(errWatchLate) })
	defer timer.Stop()
	watches := make([]clientv3.WatchChan, len(keys))
	for i, key := range keys {
		// Watch itself waits for the member, as long as its context allows.
		watches[i] = c.etcd.Watch(onStream(watching, stream), key, clientv3.WithCreatedNotify(), clientv3.WithFilterPut())
		if err := confirmed(watching, watches[i]); err != nil {
			giveUp(err)
			// A wait that was cancelled says nothing against the member. And each
			// number that is left costs a stream: etcd's client never closes one
			// on which no watch was begun.
			if ctx.Err() == nil {
				c.watchStream.CompareAndSwap(stream, stream+1)
			}
			return nil, err
		}
	}
	return watches, nil
}

// confirmed waits until a member has taken up a watch.
func confirmed(ctx context.Context, watch clientv3.WatchChan) error {
	select {
	case first, ok := <-watch:
		if ok && first.Created && !first.Canceled {
			return nil
		}
		return fmt.Errorf("watch refused: %w", cmp.Or(first.Err(), context.Cause(ctx), errWatchClosed))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var errWatchClosed = errors.New("the watch was closed")

// onStream chooses the gRPC stream for a watch. etcd's client sends all watches
// whose contexts have the same metadata over one stream, which stays on one
// member; another number opens another stream, on the next member in turn.
func onStream(ctx context.Context, number int64) context.Context {
	ctx = metadata.AppendToOutgoingContext(ctx, "fencelock-stream", strconv.FormatInt(number, 10))
	return clientv3.WithRequireLeader(ctx)
}
