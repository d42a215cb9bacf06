package grpcfence_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/grpcfence"
	"github.com/fencelock/fencelock/fencing/memfence"
)

// A server whose calls are fenced, and a client whose token was overtaken. The health
// service stands for one's own.
func Example() {
	guard := func(_ context.Context, method string, req any) string {
		if !strings.HasSuffix(method, "/Check") {
			return grpcfence.Unguarded
		}
		return req.(*healthpb.HealthCheckRequest).GetService() // "accounts/42" is guarded by the lock of that name
	}
	fence := memfence.New(memfence.Config{}) // Verify: client.Check, where there is a client
	server := grpc.NewServer(
		grpc.UnaryInterceptor(grpcfence.UnaryServer(guard, fence)),
		grpc.StreamInterceptor(grpcfence.StreamServer(guard, fence)))
	accounts := health.NewServer()
	accounts.SetServingStatus("accounts/42", healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(server, accounts)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()

	conn, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(grpcfence.UnaryClient(nil)),
		grpc.WithStreamInterceptor(grpcfence.StreamClient(nil)))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	call := func(ctx context.Context) error {
		_, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: "accounts/42"})
		return err
	}
	// With a client, Lock.Bind returns contexts like these.
	a := fencing.NewContext(context.Background(), fencing.Sequencer{Lock: "accounts/42", Token: 33})
	b := fencing.NewContext(context.Background(), fencing.Sequencer{Lock: "accounts/42", Token: 34})
	fmt.Println("B:", call(b))
	var stale *fencing.StaleError
	if err := call(a); errors.As(err, &stale) {
		fmt.Printf("A is stale: %v < %v\n", stale.Token, stale.Highest)
	}
	fmt.Println("nobody:", errors.Is(call(context.Background()), fencing.ErrMissing))
	// Output:
	// B: <nil>
	// A is stale: 33 < 34
	// nobody: true
}
