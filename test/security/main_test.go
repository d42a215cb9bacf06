package security

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/certs"
	"github.com/fencelock/fencelock/cluster/clustertest"
	"github.com/fencelock/fencelock/fencing/keys"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// testTime bounds what a test waits for.
const testTime = time.Minute

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func second[A, B any](_ A, b B) B { return b }

// folder is a set of certificates for members on loopback.
type folder struct{ dir string }

func newFolder(t *testing.T, clients ...string) folder {
	t.Helper()
	f := folder{t.TempDir()}
	f.create(t, certs.Config{Hosts: []string{"127.0.0.1"}, Clients: clients, JWT: true})
	return f
}

func (f folder) create(t *testing.T, cfg certs.Config) {
	t.Helper()
	cfg.Dir = f.dir
	must(t, "make certificates", second(certs.Create(cfg)))
}

func (f folder) path(name string) string { return f.dir + "/" + name }

func (f folder) member() cluster.TLS {
	return cluster.TLS{CertFile: f.path("127.0.0.1.pem"), KeyFile: f.path("127.0.0.1.key"), CAFile: f.path("ca.pem"), ClientCertAuth: true}
}

func (f folder) client(name string) client.TLSFiles {
	return client.TLSFiles{CACert: f.path("ca.pem"), Cert: f.path(name + ".pem"), Key: f.path(name + ".key")}
}

// tls is for etcd's own client.
func (f folder) tls(t *testing.T, name string) *tls.Config {
	t.Helper()
	files := f.client(name)
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	must(t, "read certificate", err)
	ca, err := os.ReadFile(files.CACert)
	must(t, "read CA", err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}
}

// etcd returns a client of etcd's own, closed with the test.
func etcd(t *testing.T, c *clustertest.Cluster, cfg clientv3.Config) *clientv3.Client {
	t.Helper()
	cfg.Endpoints, cfg.Logger, cfg.DialTimeout = c.Endpoints(), zap.NewNop(), 10*time.Second
	e, err := clientv3.New(cfg)
	must(t, "new etcd client", err)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// connect returns a client of ours, closed with the test.
func connect(t *testing.T, c *clustertest.Cluster, cfg client.Config) *client.Client {
	t.Helper()
	cfg.Endpoints = c.Endpoints()
	own, err := client.New(cfg)
	must(t, "new client", err)
	t.Cleanup(func() { _ = own.Close() })
	return own
}

// enableAuth makes root and a user who may use the locks under "orders/", both
// with their names as passwords, or without any, and turns authentication on.
func enableAuth(t *testing.T, admin *clientv3.Client, user string, password bool) {
	t.Helper()
	ctx := soon(t)
	for _, name := range []string{"root", user} {
		must(t, "add role", second(admin.RoleAdd(ctx, name)))
		must(t, "add user", second(admin.UserAddWithOptions(ctx, name, name, &clientv3.UserAddOptions{NoPassword: !password})))
		must(t, "grant role", second(admin.UserGrantRole(ctx, name, name)))
	}
	space, err := keys.NewSpace("")
	must(t, "namespace", err)
	for _, prefix := range space.Rights("orders/") {
		must(t, "grant rights", second(admin.RoleGrantPermission(ctx, user, prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermReadWrite))))
	}
	must(t, "turn authentication on", second(admin.AuthEnable(ctx)))
}
