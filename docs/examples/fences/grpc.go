package fences

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing/grpcfence"
	"github.com/fencelock/fencelock/fencing/memfence"
)

func overGRPC(ctx context.Context, locks *client.Client, listener net.Listener) error {
	guard := func(_ context.Context, _ string, req any) string { // the health service stands for one's own
		return req.(*healthpb.HealthCheckRequest).GetService()
	}
	fence := memfence.New(memfence.Config{Verify: locks.Check})
	server := grpc.NewServer(grpc.UnaryInterceptor(grpcfence.UnaryServer(guard, fence)))
	accounts := health.NewServer()
	accounts.SetServingStatus("accounts/42", healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(server, accounts)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()

	conn, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(grpcfence.UnaryClient(nil))) // sends the context's sequencer along
	if err != nil {
		return err
	}
	defer conn.Close()
	call := func(ctx context.Context) error {
		_, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: "accounts/42"})
		return err
	}
	return overtaken(ctx, locks, "accounts/42", call) // FailedPrecondition, a *fencing.StaleError
}
