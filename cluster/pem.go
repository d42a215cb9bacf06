package cluster

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// maxPEM bounds what is read of a certificate, key or CA file, in bytes. The
// bundle of all public CAs has a fifth of it.
const maxPEM = 1 << 20

// readPEM refuses what would block or never end: pipes, devices, folders. Kind
// is for the error: "certificate", "key", "CA".
func readPEM(kind, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", kind, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: %s is no file but %s", kind, path, info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", kind, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", kind, err)
	case len(text) > maxPEM:
		return nil, fmt.Errorf("read %s: %s is larger than %d bytes: is it the right file?", kind, path, maxPEM)
	case len(text) == 0:
		return nil, fmt.Errorf("read %s: %s is empty", kind, path)
	case bytes.Count(text, []byte("-----BEGIN ")) > blocks(text):
		return nil, fmt.Errorf("read %s: %s has a part that begins and does not end: was it only half written? Write it anew beside it, and rename that", kind, path)
	}
	return text, nil
}

// blocks counts the parts of a PEM file that are whole. Whoever reads it takes those, and
// no notice of the others: of two CAs, the second would be missing.
func blocks(text []byte) (n int) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		n++
	}
	return n
}

// readPair reads a certificate and its key, and checks that they go together
// and that the certificate is valid now.
func readPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := readPEM("certificate", certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := readPEM("key", keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate %s and key %s: %w", certFile, keyFile, err)
	}
	return pair, checkTime(certFile, pair.Leaf)
}

func checkTime(path string, cert *x509.Certificate) error {
	switch now := time.Now(); {
	case now.After(cert.NotAfter):
		return fmt.Errorf("certificate %s: it expired at %v; put a new one in its place", path, cert.NotAfter)
	case now.Before(cert.NotBefore):
		return fmt.Errorf("certificate %s: it is not valid before %v; is this host's clock right?", path, cert.NotBefore)
	}
	return nil
}

// readPool reads the CAs that the other side's certificates are verified with.
func readPool(path string) (*x509.CertPool, error) {
	text, err := readPEM("CA", path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read CA: no certificate in %s; want PEM", path)
	}
	return pool, nil
}

// parsePrivate reads a private key in any of the usual forms of PEM, and returns
// its public half.
func parsePrivate(der []byte) (crypto.PublicKey, error) {
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		signer, ok := key.(crypto.Signer)
		if !ok {
			return nil, errors.New("its key does not sign")
		}
		return signer.Public(), nil
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return key.Public(), nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key.Public(), nil
	}
	return nil, errors.New("no private key in it")
}
