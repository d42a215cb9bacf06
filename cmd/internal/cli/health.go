package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/config"
)

const (
	// healthWait is above the second that a member gives itself to find out
	// whether it is ready.
	healthWait = 3 * time.Second

	// healthBytes is far above what a member says about itself.
	healthBytes = 4 << 10
)

// newHealthCommand is for images without a shell, whose health check has nothing
// else to call.
func newHealthCommand(a *app) *cobra.Command {
	var live bool
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask the member on this host whether it is ready",
		Long: `Ask the member on this host whether it is ready, at the address of its
--listen-metrics: exit code 0 if it is, else 1, with the reason. With --live:
whether it is alive, which needs no majority.`,
		Hidden: true,
		Args:   arguments(0, 0, "no arguments"),
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			address := cfg.Server.HealthAddress()
			if address == "" {
				return usagef(cmd, `the member does not say: --listen-metrics is "off"`)
			}
			path := "/readyz"
			if live {
				path = "/livez"
			}
			return a.askHealth(cmd.Context(), "http://"+address+path)
		}),
	}
	config.AddFlags(cmd.Flags(), "server.listen-metrics")
	cmd.Flags().BoolVar(&live, "live", false, "ask whether it is alive")
	return cmd
}

// askHealth prints what the member says, which is the error unless it is well.
func (a *app) askHealth(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	transport := &http.Transport{DisableKeepAlives: true} // no proxy on the way to this host
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("health: ask %s: %w; does the member run, and is --listen-metrics the same here?", url, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, healthBytes))
	text := strings.TrimSpace(string(body))
	switch {
	case err != nil:
		return fmt.Errorf("health: read the answer of %s: %w", url, err)
	case resp.StatusCode != http.StatusOK:
		return errors.New("health: " + text)
	}
	_, err = fmt.Fprintln(a.Stdout, text)
	return err
}
