package certs_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fencelock/fencelock/cluster/certs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func create(t *testing.T, cfg certs.Config) []certs.Made {
	t.Helper()
	made, err := certs.Create(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func parse(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// A member's certificate is good for its address and for loopback, for servers and
// clients; a client's for clients alone.
func TestWhatCertificatesAreGoodFor(t *testing.T) {
	made := create(t, certs.Config{Dir: t.TempDir(), Hosts: []string{"a.example", "10.1.2.3", "fe80::1"}, Also: []string{"locks.example"}, Clients: []string{"billing"}, Days: 30})
	roots := x509.NewCertPool()
	roots.AddCert(parse(t, made[0].Cert))
	for _, test := range []struct {
		made certs.Made
		name string
		want bool
	}{
		{made[1], "a.example", true}, {made[1], "localhost", true}, {made[1], "127.0.0.1", true}, {made[1], "::1", true}, {made[1], "locks.example", true},
		{made[1], "b.example", false}, {made[1], "10.1.2.3", false},
		{made[2], "10.1.2.3", true}, {made[3], "fe80::1", true}, {made[4], "localhost", false},
	} {
		cert := parse(t, test.made.Cert)
		_, err := cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: test.name})
		if (err == nil) != test.want {
			t.Errorf("%s for %s: %v, want good: %v", test.made.Cert, test.name, err, test.want)
		}
		client := x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		if _, err := cert.Verify(client); err != nil {
			t.Errorf("%s for a client: %v", test.made.Cert, err)
		}
		if left := time.Until(cert.NotAfter); left > 31*24*time.Hour || left < 29*24*time.Hour {
			t.Errorf("%s: valid for %v, want 30 days", test.made.Cert, left)
		}
	}
	if got := parse(t, made[4].Cert).Subject.CommonName; got != "billing" {
		t.Errorf("common name %q, want billing", got)
	}
}

// What is there stays, byte for byte, unless it is to be renewed; the CA always.
func TestWhatIsThereStays(t *testing.T) {
	cfg := certs.Config{Dir: t.TempDir(), Hosts: []string{"a"}, Clients: []string{"c"}, JWT: true}
	create(t, cfg)
	first := contents(t, cfg.Dir)
	for _, m := range create(t, cfg) {
		if !m.Kept {
			t.Errorf("%s: made anew", m.Cert)
		}
	}
	if got := contents(t, cfg.Dir); !equal(first, got, "") {
		t.Errorf("files changed: %v, then %v", first, got)
	}
	cfg.Renew = true
	create(t, cfg)
	renewed := contents(t, cfg.Dir)
	if !equal(first, renewed, "ca") || !equal(first, renewed, "jwt") || renewed["a.pem"] == first["a.pem"] || renewed["c.key"] == first["c.key"] {
		t.Error("renew: want new certificates, and the same CA and JWT keys")
	}
	cfg.Renew, cfg.Force = false, true
	create(t, cfg)
	forced := contents(t, cfg.Dir)
	if !equal(first, forced, "ca") || forced["jwt.key"] == first["jwt.key"] || forced["a.pem"] == renewed["a.pem"] {
		t.Error("force: want everything new but the CA")
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name()] = string(text)
	}
	return all
}

// equal compares the files whose names begin like this.
func equal(a, b map[string]string, begin string) bool {
	for name := range a {
		if strings.HasPrefix(name, begin) && a[name] != b[name] {
			return false
		}
	}
	return len(a) == len(b)
}

// Nothing of somebody else's is replaced, and no half is completed.
func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(dir string) error
		want  string
	}{
		"a key alone":      {func(dir string) error { return os.Remove(dir + "/a.pem") }, "a.key exists, but"},
		"a CA without key": {func(dir string) error { return os.Remove(dir + "/ca.key") }, "put the missing one back"},
		"garbage":          {func(dir string) error { return os.WriteFile(dir+"/a.pem", []byte("x"), 0o600) }, "no PEM in it"},
		"another CA's": {func(dir string) error {
			_, err := certs.Create(certs.Config{Dir: dir + "/other", Hosts: []string{"a"}})
			if err != nil {
				return err
			}
			return os.Rename(dir+"/other/a.pem", dir+"/a.pem")
		}, "did not sign it"},
		"a CA of another key": {func(dir string) error {
			_, err := certs.Create(certs.Config{Dir: dir + "/other", Hosts: []string{"a"}})
			if err != nil {
				return err
			}
			return os.Rename(dir+"/other/ca.key", dir+"/ca.key")
		}, "does not belong to"},
	} {
		cfg := certs.Config{Dir: t.TempDir(), Hosts: []string{"a"}, Renew: true}
		create(t, cfg)
		if err := test.spoil(cfg.Dir); err != nil {
			t.Fatal(err)
		}
		if _, err := certs.Create(cfg); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
