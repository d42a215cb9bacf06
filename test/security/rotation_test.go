package security

import (
	"context"
	"crypto/tls"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/certs"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

func withTLS(t *testing.T, members int, f folder) *clustertest.Cluster {
	t.Helper()
	return clustertest.StartConfig(t, clustertest.Config{
		Members: members,
		Edit:    func(_ int, cfg *cluster.Config) { cfg.ClientTLS, cfg.PeerTLS = f.member(), f.member() },
	})
}

// A certificate's common name is its user: it may use its own locks, nobody
// else's, and needs no password.
func TestCommonNameIsTheUser(t *testing.T) {
	f := newFolder(t, "root", "clerk", "stranger")
	c := withTLS(t, 1, f)
	enableAuth(t, etcd(t, c, clientv3.Config{TLS: f.tls(t, "root")}), "clerk", false)
	own := connect(t, c, client.Config{TLSFiles: f.client("clerk")})
	must(t, "lock", own.Do(soon(t), "orders/1", func(context.Context, *client.Lock) error { return nil }))
	if _, err := own.Lock(soon(t), "orders2/1"); err == nil {
		t.Error("clerk locks orders2/1")
	}
	if _, err := connect(t, c, client.Config{TLSFiles: f.client("stranger")}).Lock(soon(t), "orders/1"); err == nil {
		t.Error("a stranger locks orders/1")
	}
	none := connect(t, c, client.Config{TLSFiles: client.TLSFiles{CACert: f.path("ca.pem")}, DialTimeout: time.Second})
	if _, err := none.Lock(soon(t), "orders/1"); err == nil {
		t.Error("a client without a certificate locks orders/1")
	}
	connectTooOld(t, c, f)
}

// connectTooOld offers TLS 1.1 at most.
func connectTooOld(t *testing.T, c *clustertest.Cluster, f folder) {
	t.Helper()
	cfg := f.tls(t, "clerk")
	cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if conn, err := tls.Dial("tcp", c.Endpoint(0), cfg); err == nil {
		_ = conn.Close()
		t.Error("a member speaks TLS 1.1")
	}
}

// Everything that a cluster's clients and members show each other on the side of
// clients is replaced, the CA too, while connections come and go and one stays:
// nobody fails, and in the end the old files are worth nothing.
func TestRotation(t *testing.T) {
	f, next := newFolder(t, "clerk"), newFolder(t, "clerk")
	c := clustertest.StartConfig(t, clustertest.Config{
		Members: 1,
		Edit:    func(_ int, cfg *cluster.Config) { cfg.ClientTLS = f.member() },
	})
	old := copyOf(t, f)
	stays := connect(t, c, client.Config{TLSFiles: f.client("clerk")})
	held, err := stays.Lock(soon(t), "stays")
	must(t, "lock", err)
	comeAndGo := func(what string, files client.TLSFiles) {
		t.Helper()
		for range 3 {
			own, err := client.New(client.Config{Endpoints: c.Endpoints(), TLSFiles: files})
			must(t, what, err)
			must(t, what, own.Do(soon(t), "comes", func(context.Context, *client.Lock) error { return nil }))
			must(t, what, own.Close())
		}
	}
	comeAndGo("before", f.client("clerk"))
	both := append(read(t, f.path("ca.pem")), read(t, next.path("ca.pem"))...)
	write(t, f.path("ca.pem"), both)
	comeAndGo("both CAs", f.client("clerk"))
	for _, name := range []string{"clerk.key", "clerk.pem"} {
		write(t, f.path(name), read(t, next.path(name)))
	}
	comeAndGo("a client's new certificate", f.client("clerk"))
	write(t, f.path("127.0.0.1.key"), read(t, next.path("127.0.0.1.key"))) // does not go with the certificate: the last good pair serves on
	comeAndGo("a half of the new pair", f.client("clerk"))
	write(t, f.path("127.0.0.1.pem"), read(t, next.path("127.0.0.1.pem")))
	comeAndGo("a member's new certificate", f.client("clerk"))
	write(t, f.path("ca.pem"), read(t, next.path("ca.pem")))
	comeAndGo("the new CA alone", f.client("clerk"))
	comeAndGo("files of the new CA", next.client("clerk"))
	must(t, "the lock that stayed", held.Err())
	must(t, "unlock", held.Unlock(soon(t)))
	stale := connect(t, c, client.Config{TLSFiles: client.TLSFiles{CACert: next.path("ca.pem"), Cert: old.path("clerk.pem"), Key: old.path("clerk.key")}, DialTimeout: time.Second})
	if _, err := stale.Lock(soon(t), "stale"); err == nil {
		t.Error("the old CA's certificate is still taken")
	}
	stale = connect(t, c, client.Config{TLSFiles: client.TLSFiles{CACert: old.path("ca.pem"), Cert: next.path("clerk.pem"), Key: next.path("clerk.key")}, DialTimeout: time.Second})
	if _, err := stale.Lock(soon(t), "stale"); err == nil {
		t.Error("the member still shows the old CA's certificate")
	}
}

// The members' own certificates are renewed under their CA while they talk to each
// other: a member that restarts with the new one is taken, and takes the others.
func TestPeerRotation(t *testing.T) {
	f := newFolder(t, "clerk")
	c := withTLS(t, 3, f)
	own := connect(t, c, client.Config{TLSFiles: f.client("clerk")})
	before := read(t, f.path("127.0.0.1.pem"))
	f.create(t, certs.Config{Hosts: []string{"127.0.0.1"}, Renew: true})
	if string(read(t, f.path("127.0.0.1.pem"))) == string(before) {
		t.Fatal("the certificate was not renewed")
	}
	for i := range 3 {
		c.Stop(i)
		c.Restart(i)
		must(t, "lock", own.Do(soon(t), "a", func(context.Context, *client.Lock) error { return nil }))
	}
}

func copyOf(t *testing.T, f folder) folder {
	t.Helper()
	to := folder{t.TempDir()}
	must(t, "copy", os.CopyFS(to.dir, os.DirFS(f.dir)))
	return to
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, "read", err)
	return text
}

// write replaces a file as programs that rotate do.
func write(t *testing.T, path string, text []byte) {
	t.Helper()
	must(t, "write", os.WriteFile(path+".new", text, 0o600))
	must(t, "rename", os.Rename(path+".new", path))
}
