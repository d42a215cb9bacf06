package grpcfence_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/fencingtest"
	"github.com/fencelock/fencelock/fencing/grpcfence"
	"github.com/fencelock/fencelock/fencing/memfence"
)

// remote is a store behind a connection.
type remote struct {
	conn    *grpc.ClientConn
	streams bool   // each operation is a stream of one message
	dir     string // of a store whose data outlives it
	verify  fencingtest.Verify
}

func (r *remote) Do(ctx context.Context, op fencingtest.Op) (string, error) {
	if op.Sequencer != (fencing.Sequencer{}) {
		ctx = fencing.NewContext(ctx, op.Sequencer)
	}
	if op.Text != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, grpcfence.MetadataKey, op.Text)
	}
	req, resp := message(op.Kind.String(), op.Guard, op.Key, op.Value), message()
	var err error
	if r.streams {
		err = ask(ctx, r.conn, req, resp)
	} else {
		err = r.conn.Invoke(ctx, unaryMethod, req, resp)
	}
	if err != nil {
		return "", err
	}
	return fields(resp)[0], nil
}

// ask opens a stream for one operation, and waits for the stream's end.
func ask(ctx context.Context, conn *grpc.ClientConn, req, resp any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := talkTo(ctx, conn)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(req); err != nil && err != io.EOF {
		return err
	}
	return stream.RecvMsg(resp)
}

func talkTo(ctx context.Context, conn *grpc.ClientConn) (grpc.ClientStream, error) {
	return conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, streamMethod)
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func TestConformance(t *testing.T) {
	for name, streams := range map[string]bool{"unary": false, "stream": true} {
		t.Run(name+", fence in memory", func(t *testing.T) {
			fencingtest.Run(t, fencingtest.Harness{
				Open: func(t testing.TB, verify fencingtest.Verify) fencingtest.Resource {
					s := &store{unary: inMemory()}
					s.stream = s.talk
					return &remote{conn: s.serve(t, guardOf, memfence.New(memfence.Config{Verify: verify})), streams: streams}
				},
				Without: map[fencingtest.Capability]string{fencingtest.Restarts: "the fence dies with the process"},
			})
		})
		t.Run(name+", fence in the handler", func(t *testing.T) {
			open := func(t testing.TB, dir string, verify fencingtest.Verify) fencingtest.Resource {
				s := &store{unary: inFiles(dir, verify)}
				s.stream = s.talk
				return &remote{s.serve(t, guardOf, grpcfence.InHandler{}), streams, dir, verify}
			}
			fencingtest.Run(t, fencingtest.Harness{
				Open: func(t testing.TB, verify fencingtest.Verify) fencingtest.Resource {
					return open(t, t.TempDir(), verify)
				},
				Reopen: func(t testing.TB, r fencingtest.Resource) fencingtest.Resource {
					old := r.(*remote)
					old.conn.Close()
					return open(t, old.dir, old.verify)
				},
				Without: map[fencingtest.Capability]string{fencingtest.ManyKeys: "each file has a fence of its own"},
			})
		})
	}
}
