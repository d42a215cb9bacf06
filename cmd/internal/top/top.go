package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/fencelock/fencelock/client"
)

// Config of a screen.
type Config struct {
	Client  *client.Client
	Prefix  string    // of the locks to show
	In      io.Reader // the terminal
	Out     io.Writer
	Env     []string            // says what kind of terminal it is
	Visible func(string) string // makes the text of others harmless to a terminal
}

// Run shows the screen until somebody quits it or ctx ends, neither of which is an
// error. The terminal is then as it was.
func Run(ctx context.Context, cfg Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	program := tea.NewProgram(newScreen(cfg),
		tea.WithContext(ctx), tea.WithInput(cfg.In), tea.WithOutput(cfg.Out), tea.WithEnvironment(cfg.Env),
		tea.WithoutSignalHandler(), // ctx ends with signals
	)
	f := feed{client: cfg.Client, prefix: cfg.Prefix, send: func(m any) { program.Send(m) }, stir: make(chan struct{}, 1)}
	var feeding sync.WaitGroup
	feeding.Go(func() { f.run(ctx) })
	_, err := program.Run()
	cancel()
	feeding.Wait()
	if err != nil && !errors.Is(err, tea.ErrProgramKilled) {
		return fmt.Errorf("show the screen: %w", err)
	}
	return nil
}
