// Payments shows a fencing token on its way through a small system, and what it
// is good for on the day on which a process stops for too long.
//
//	          lock, token                 Fencing-Token: accounts/42#7
//	cluster ─────────────▶ replica A ─────────────────────────────────▶ ledger ──▶ PostgreSQL
//	        ─────────────▶ replica B ─────────────────────────────────▶        ──▶ fence, entries
//
// Two replicas of a payment service (replica.go) take the lock of an account, read
// its balance from the ledger, and book a payment if the money is there. The
// ledger (ledger.go) asks the fence in the transaction in which it books.
//
// The program starts all of it: a cluster of one member, the ledger, and two
// processes of itself as replicas. It stops replica A (SIGSTOP) when A has made
// sure of everything and its booking is about to leave, until B has taken the
// lock over and spent the money (story.go). Then A goes on. Without the fence the
// account would be overdrawn.
//
//	go run ./docs/examples/payments
//	go run ./docs/examples/payments -postgres postgres://user@localhost/payments
//
// Without -postgres, or DATABASE_URL in the environment, the ledger is a SQLite
// file. The exit code is 1 if the story does not end as it must.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "payments:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if settings := os.Getenv(replicaSettings); settings != "" {
		return serveReplica(ctx, settings)
	}
	postgres := flag.String("postgres", os.Getenv("DATABASE_URL"), "URL of a PostgreSQL for the ledger; default $DATABASE_URL, else SQLite")
	flag.Parse()
	return play(ctx, *postgres, newTimeline(os.Stdout))
}
