package cluster_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster"
	"github.com/fencelock/fencelock/cluster/certs"
	"github.com/fencelock/fencelock/cluster/clustertest"
)

// Files that cannot serve end the start at once, with the file and the reason.
func TestFilesRefused(t *testing.T) {
	dir := makeFiles(t)
	good := cluster.TLS{CertFile: dir("127.0.0.1.pem"), KeyFile: dir("127.0.0.1.key"), CAFile: dir("ca.pem"), ClientCertAuth: true}
	alien := makeFiles(t)
	write := func(name, text string) string {
		if err := os.WriteFile(dir(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir(name)
	}
	garbage, empty, expired := write("garbage", "no PEM"), write("empty", ""), expiredCert(t, dir)
	half := func(name string) string { return write("half."+name, cut(t, dir(name))) }
	oneAndAHalf := write("both.pem", read(t, dir("ca.pem"))+cut(t, alien("ca.pem")))
	for name, test := range map[string]struct {
		edit func(*cluster.TLS)
		want []string
	}{
		"missing certificate": {func(f *cluster.TLS) { f.CertFile = dir("none.pem") }, []string{"read certificate", "none.pem"}},
		"missing key":         {func(f *cluster.TLS) { f.KeyFile = dir("none.key") }, []string{"read key", "none.key"}},
		"missing CA":          {func(f *cluster.TLS) { f.CAFile = dir("none.ca") }, []string{"read CA", "none.ca"}},
		"a folder":            {func(f *cluster.TLS) { f.CertFile = dir("") }, []string{"read certificate", "is no file"}},
		"a device":            {func(f *cluster.TLS) { f.CAFile = "/dev/zero" }, []string{"read CA", "/dev/zero is no file"}},
		"empty":               {func(f *cluster.TLS) { f.KeyFile = empty }, []string{"read key", "is empty"}},
		"garbage":             {func(f *cluster.TLS) { f.CertFile = garbage }, []string{"certificate " + garbage, "PEM"}},
		"half a certificate":  {func(f *cluster.TLS) { f.CertFile = half("127.0.0.1.pem") }, []string{"half.127.0.0.1.pem", "half written"}},
		"half a key":          {func(f *cluster.TLS) { f.KeyFile = half("127.0.0.1.key") }, []string{"half.127.0.0.1.key", "half written"}},
		"one CA and a half":   {func(f *cluster.TLS) { f.CAFile = oneAndAHalf }, []string{oneAndAHalf, "half written"}},
		"CA garbage":          {func(f *cluster.TLS) { f.CAFile = garbage }, []string{"no certificate in " + garbage}},
		"another key":         {func(f *cluster.TLS) { f.KeyFile = alien("127.0.0.1.key") }, []string{dir("127.0.0.1.pem"), alien("127.0.0.1.key"), "does not match"}},
		"expired":             {func(f *cluster.TLS) { f.CertFile, f.KeyFile = expired, dir("expired.key") }, []string{expired, "expired at"}},
		"key as certificate":  {func(f *cluster.TLS) { f.CertFile = dir("127.0.0.1.key") }, []string{dir("127.0.0.1.key")}},
	} {
		for _, side := range []string{"client", "peer"} {
			cfg := single(t)
			files := good
			test.edit(&files)
			if side == "client" {
				cfg.ClientTLS = files
			} else {
				cfg.PeerTLS = files
			}
			mustRefuse(t, name, cfg, append(test.want, side+" TLS")...)
		}
	}
	cfg := single(t)
	cfg.PeerTLS = good
	cfg.PeerTLS.CAFile = alien("ca.pem")
	mustRefuse(t, "another CA", cfg, "its peers would refuse it", dir("127.0.0.1.pem"), alien("ca.pem"))
	cfg.PeerTLS = cluster.TLS{CertFile: dir("c.pem"), KeyFile: dir("c.key"), CAFile: dir("ca.pem")}
	mustRefuse(t, "a client's certificate", cfg, "its peers would refuse it", dir("c.pem"))

	cfg = clustertest.Configs(t, clustertest.Config{})[0]
	cfg.PeerTLS, cfg.AdvertisePeer = good, nil
	cfg.InitialCluster[cfg.Name] = []string{"b.example:2380"}
	mustRefuse(t, "another member's", cfg, "its peers would refuse it", dir("127.0.0.1.pem"), "dial this member at b.example")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// cut is the first half of a file, as another process sees it while it is written.
func cut(t *testing.T, path string) string {
	t.Helper()
	text := read(t, path)
	return text[:len(text)/2]
}

func TestTokenKeysRefused(t *testing.T) {
	dir, alien := makeFiles(t), makeFiles(t)
	for name, test := range map[string]struct {
		tokens cluster.Tokens
		want   string
	}{
		"missing":      {cluster.Tokens{KeyFile: dir("none.key")}, "none.key"},
		"certificate":  {cluster.Tokens{KeyFile: dir("ca.pem")}, "a CERTIFICATE is not what is wanted"},
		"public alone": {cluster.Tokens{PublicKeyFile: dir("jwt.pub")}, "cannot answer a login"},
		"public":       {cluster.Tokens{KeyFile: dir("jwt.pub")}, "no private key in it"},
		"another":      {cluster.Tokens{KeyFile: dir("jwt.key"), PublicKeyFile: alien("jwt.pub")}, "does not belong to"},
		"short TTL":    {cluster.Tokens{KeyFile: dir("jwt.key"), TTL: time.Millisecond}, "want whole seconds"},
		"comma":        {cluster.Tokens{KeyFile: "a,b"}, "rename it"},
	} {
		cfg := single(t)
		cfg.Tokens = test.tokens
		mustRefuse(t, name, cfg, test.want)
	}
}

func TestLongFolderWithTLS(t *testing.T) {
	dir := makeFiles(t)
	cfg := single(t)
	cfg.DataDir = filepath.Join(cfg.DataDir, strings.Repeat("x", 100))
	cfg.ClientTLS = cluster.TLS{CertFile: dir("127.0.0.1.pem"), KeyFile: dir("127.0.0.1.key")}
	mustRefuse(t, "long path", cfg, "use a shorter one")
}

func mustRefuse(t *testing.T, name string, cfg cluster.Config, want ...string) {
	t.Helper()
	began := time.Now()
	m, err := cluster.Start(t.Context(), cfg)
	if err == nil {
		_ = m.Close()
		t.Errorf("%s: started", name)
		return
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: got %q, want it to contain %q", name, err, part)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%s: refused after %v", name, took)
	}
}

// makeFiles makes certificates for a member and a client, and returns their paths.
func makeFiles(t *testing.T) func(name string) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := certs.Create(certs.Config{Dir: dir, Hosts: []string{"127.0.0.1"}, Clients: []string{"c"}, JWT: true}); err != nil {
		t.Fatal(err)
	}
	return func(name string) string { return filepath.Join(dir, name) }
}

func expiredCert(t *testing.T, dir func(string) string) string {
	t.Helper()
	key := newKey(t)
	der := selfSigned(t, key, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "old"},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
	})
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"expired.pem": inPEM("CERTIFICATE", der), "expired.key": inPEM("PRIVATE KEY", keyDER)} {
		if err := os.WriteFile(dir(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir("expired.pem")
}
