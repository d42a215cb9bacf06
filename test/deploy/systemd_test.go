package deploy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/config"
)

// verify has systemd read a unit whose program and user exist.
func verify(t *testing.T, unit string) error {
	t.Helper()
	unit = strings.ReplaceAll(unit, "/usr/local/bin/fencelock", "/bin/true")
	path := filepath.Join(t.TempDir(), "fencelock.service")
	if err := os.WriteFile(path, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := run(t.Context(), limit, nil, "sh", "-c", `out=$(systemd-analyze verify --recursive-errors=no "$0" 2>&1) && test -z "$out" || { echo "$out"; exit 1; }`, path)
	if err == nil && out != "" {
		t.Log(out)
	}
	return err
}

func TestSystemdUnit(t *testing.T) {
	unit := read(t, "deploy/systemd/fencelock.service")
	if err := verify(t, unit); err != nil {
		t.Error(err)
	}
	for right, wrong := range map[string]string{
		"ProtectSystem=strict": "ProtectSystem=strickt",
		"TimeoutStopSec=":      "TimeoutStopSecs=",
		"ExecStart=/":          "ExecStart=",
	} {
		if err := verify(t, strings.Replace(unit, right, wrong, 1)); err == nil {
			t.Errorf("%q for %q is not noticed", wrong, right)
		}
	}
}

// exposure is systemd's own measure of a unit, in tenths, from 0 for the safest; up
// to 20 it says OK. A service with no hardening has 96.
const exposure = "20"

func TestSystemdExposure(t *testing.T) {
	mustRun(t, "systemd-analyze", "security", "--offline=true", "--threshold="+exposure, "--no-pager", filepath.Join(top, "deploy/systemd/fencelock.service"))
}

// The example of settings is read like any environment.
func TestSystemdSettings(t *testing.T) {
	var env []string
	for line := range strings.Lines(read(t, "deploy/systemd/fencelock.env")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			env = append(env, line)
		}
	}
	cfg, err := config.Load(config.Sources{Env: append(env, "FENCELOCK_SERVER_NAME=b.example", "FENCELOCK_SERVER_LISTEN_PEER=0.0.0.0:2380", "FENCELOCK_SERVER_LISTEN_CLIENT=0.0.0.0:2379")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no time for look-ups
	member, err := cfg.Server.Member(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(member.InitialCluster) != 3 || member.Name != "b.example" {
		t.Errorf("got member %q of %v, want b.example of three", member.Name, member.InitialCluster)
	}
	if known := strings.Count(strings.Join(env, "\n"), "FENCELOCK_SERVER_"); known != len(env) {
		t.Errorf("%d settings of %d are a server's", known, len(env))
	}
}
