package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// The commands that "cert create" prints run as they are, and its certificates are
// all that root and a service need: no password anywhere.
func TestCertificatesAlone(t *testing.T) {
	dir, peer, client := t.TempDir(), clustertest.FreeAddress(t), clustertest.FreeAddress(t)
	made := run(t, "cert", "create", "--dir", dir, "--peers", peer, "--client", "root,billing", "--jwt", "-o", "json").want(t, 0)
	var files struct{ Servers []string }
	if err := json.Unmarshal([]byte(made.stdout), &files); err != nil || len(files.Servers) != 1 {
		t.Fatalf("%s: %v", made.stdout, err)
	}
	args := strings.Fields(strings.TrimPrefix(files.Servers[0], "fencelock "))
	server := start(t, append(args, "--listen-client", client, "--data-dir", t.TempDir())...)
	server.await(t, "ready ")
	as := func(user string, args ...string) result {
		t.Helper()
		return run(t, append(args, "--endpoints", client, "--cacert", dir+"/ca.pem", "--cert", dir+"/"+user+".pem", "--key", dir+"/"+user+".key")...)
	}
	as("root", "auth", "user", "add", "root", "--no-password").want(t, 0)
	as("root", "auth", "enable").want(t, 0)
	as("root", "auth", "grant", "billing", "--prefix", "orders/", "--no-password").want(t, 0)
	as("billing", "locks", "orders/").want(t, 0)
	as("billing", "locks", "bills/").want(t, 1, "permission denied", "bills/", "fencelock auth grant USER --prefix")
	locked := run(t, "lock", "--endpoints", client, "--cacert", dir+"/ca.pem", "--cert", dir+"/billing.pem", "--key", dir+"/billing.key",
		"orders/1", "--", "sh", "-c", "echo $FENCELOCK_SEQUENCER").want(t, 0)
	if !strings.HasPrefix(locked.stdout, "orders/1#") {
		t.Errorf("the command printed %q, want a sequencer of orders/1", locked.stdout)
	}
	server.end(t, syscall.SIGTERM)
}
