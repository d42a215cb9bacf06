//go:build linux

// The program under test is built once; a client process is this one again.

package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/fencelock/fencelock/test/chaos/history"
	"github.com/fencelock/fencelock/test/chaos/traffic"
)

// binaryVariable tells the tests where TestMain has built the program.
const binaryVariable = "FENCELOCK_TEST_BINARY"

func TestMain(m *testing.M) {
	if slices.Contains(os.Args[1:], "client") {
		os.Exit(clientProcess())
	}
	if slices.Contains(os.Args[1:], "hold") {
		os.Exit(hold())
	}
	dir, err := build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func build() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "fencelock-world"); err != nil {
		return "", err
	}
	binary, err := Build(context.Background(), dir, "", Program)
	return dir, errors.Join(err, os.Setenv(binaryVariable, binary))
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
