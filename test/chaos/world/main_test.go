//go:build linux

// The program under test is built once; a client process is this one again.

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/chaos/traffic"
	"github.com/fencelock/fencelock/test/testbinary"
)

func TestMain(m *testing.M) {
	if slices.Contains(os.Args[1:], "client") {
		os.Exit(clientProcess())
	}
	if slices.Contains(os.Args[1:], "hold") {
		os.Exit(hold())
	}
	testbinary.Main(m, func(dir string) (string, error) { return Build(context.Background(), dir, "", Program) })
}

// clientProcess writes one operation and waits for its end. A last one says what it
// was told.
func clientProcess() (code int) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	var cfg traffic.Config
	if err := json.NewDecoder(os.Stdin).Decode(&cfg); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	w, err := history.Create(cfg.History, cfg.Client)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer w.Close()
	if _, err := w.Call(history.Event{Kind: history.Get, Lock: cfg.Postgres + " " + cfg.Redis, Key: fmt.Sprint(cfg.Endpoints)}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(os.Stderr, "client", cfg.Client)
	if !cfg.Final {
		<-ended
	}
	return 0
}
