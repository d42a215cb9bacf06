package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fencelock/fencelock/cluster/clustertest"
)

// authority signs certificates for the tests of TLS.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert, a.key = template, newKey(t)
	a.cert = a.sign(t, template, a.key, "ca")
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue writes name.pem and name.key, good for 127.0.0.1 and for clients.
func (a *authority) issue(t *testing.T, name string) {
	t.Helper()
	key := newKey(t)
	a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, key, name)
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, name+".key", "EC PRIVATE KEY", der)
}

func (a *authority) sign(t *testing.T, template *x509.Certificate, key *ecdsa.PrivateKey, name string) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, name+".pem", "CERTIFICATE", der)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func (a *authority) write(t *testing.T, name, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(a.file(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

func TestServerTLS(t *testing.T) {
	ca := newAuthority(t)
	ca.issue(t, "member")
	ca.issue(t, "client")
	client := clustertest.FreeAddress(t)
	server := start(t, append(node(t.TempDir(), client, clustertest.FreeAddress(t)),
		"--client-cert", ca.file("member.pem"), "--client-key", ca.file("member.key"),
		"--client-cacert", ca.file("ca.pem"), "--client-cert-auth")...)
	line, _ := server.await(t, "ready ")
	if !strings.HasSuffix(line, "client=https://"+client) {
		t.Errorf("ready line %q, want https", line)
	}
	own := []string{"--cacert", ca.file("ca.pem"), "--cert", ca.file("client.pem"), "--key", ca.file("client.key")}
	for _, endpoint := range []string{client, "https://" + client} {
		run(t, append([]string{"locks", "--endpoints", endpoint}, own...)...).want(t, 0)
		run(t, append([]string{"status", "--endpoints", endpoint}, own...)...).want(t, 0)
	}
	// Without TLS, without a certificate, and with a CA that did not sign: each is told apart.
	other := newAuthority(t)
	for reason, flags := range map[string][]string{
		"does it want TLS":                  {},
		"refuses this client's certificate": {"--cacert", ca.file("ca.pem")},
		"its certificate is not trusted":    {"--cacert", other.file("ca.pem"), "--cert", ca.file("client.pem"), "--key", ca.file("client.key")},
	} {
		run(t, append([]string{"locks", "--endpoints", client, "--dial-timeout", "300ms"}, flags...)...).want(t, 1, client, reason)
	}
	run(t, append([]string{"locks", "--endpoints", "http://" + client}, own...)...).want(t, 2, "http, but TLS files are given")
	server.end(t, syscall.SIGTERM)
}
