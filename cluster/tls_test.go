package cluster_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// Three members with TLS on both sides: who has a certificate is served, and who
// has none is not.
func TestTLS(t *testing.T) {
	t.Parallel()
	pair, files := certificate(t)
	c := clustertest.StartConfig(t, clustertest.Config{
		Edit: func(_ int, cfg *cluster.Config) { cfg.ClientTLS, cfg.PeerTLS = files, files },
	})
	with := clientTLS(t, pair, true)
	etcd := tlsClient(t, c, with)
	put(t, etcd, "k", "v")
	watch := etcd.Watch(t.Context(), "watched", clientv3.WithCreatedNotify())
	<-watch
	without := clientTLS(t, pair, false)
	if conn, err := tls.Dial("tcp", c.Endpoint(0), without); err == nil {
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("connection without a certificate: got a reply, want none")
		}
		_ = conn.Close()
	}
	began := time.Now()
	c.Stop(c.Leader(t.Context()))
	if got := time.Since(began); got > closeLimit {
		t.Errorf("close took %v, want less than %v", got, closeLimit)
	}
	put(t, etcd, "watched", "v")
	if r := <-watch; r.Err() != nil || len(r.Events) != 1 {
		t.Errorf("watch after a member has closed: got %v, %v, want one event", r.Events, r.Err())
	}
}

func tlsClient(t *testing.T, c *clustertest.Cluster, cfg *tls.Config) *clientv3.Client {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints(), TLS: cfg, Logger: zap.NewNop()})
	if err != nil {
		t.Fatalf("new client: %v", err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	return etcd
}

func clientTLS(t *testing.T, pair tls.Certificate, show bool) *tls.Config {
	t.Helper()
	roots := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(leaf)
	cfg := &tls.Config{RootCAs: roots}
	if show {
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg
}

// certificate makes one that signs itself, and serves as everybody's.
func certificate(t *testing.T) (tls.Certificate, cluster.TLS) {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "fencelock test"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	cert := selfSigned(t, key, template)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := cluster.TLS{
		CertFile: writePEM(t, dir, "CERTIFICATE", cert),
		KeyFile:  writePEM(t, dir, "PRIVATE KEY", der),
	}
	files.CAFile, files.ClientCertAuth = files.CertFile, true
	return tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: key}, files
}

func writePEM(t *testing.T, dir, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(dir, kind+".pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func selfSigned(t *testing.T, key *ecdsa.PrivateKey, template *x509.Certificate) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func inPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
