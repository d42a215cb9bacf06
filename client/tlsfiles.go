package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"google.golang.org/grpc/credentials"
)

// TLSFiles names PEM files that are read anew for every connection, so that a
// process takes a rotated certificate, key or CA without a restart. The zero
// TLSFiles is none.
type TLSFiles struct {
	CACert    string // of the CAs that sign the members' certificates; empty: the system's
	Cert, Key string // what this client shows; both or none
}

// Check reads the files: it names the one that cannot be used, and the reason.
func (f TLSFiles) Check() error {
	_, err := f.config()
	return err
}

func (f TLSFiles) config() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if (f.Cert == "") != (f.Key == "") {
		return nil, errors.New("TLS files: certificate and key go together")
	}
	if f.CACert != "" {
		text, err := readPEM("CA", f.CACert)
		if err != nil {
			return nil, err
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read CA: no certificate in %s; want PEM", f.CACert)
		}
	}
	if f.Cert == "" {
		return cfg, nil
	}
	cert, err := readPEM("certificate", f.Cert)
	if err != nil {
		return nil, err
	}
	key, err := readPEM("key", f.Key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s and key %s: %w", f.Cert, f.Key, err)
	}
	cfg.Certificates = []tls.Certificate{pair}
	return cfg, nil
}

// maxPEM bounds what is read of a file, in bytes.
const maxPEM = 1 << 20

// readPEM refuses what would block or never end: pipes, devices, folders.
func readPEM(kind, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: open %s: %w", kind, path, errors.Unwrap(err))
	}
	if !info.Mode().IsRegular() || info.Size() > maxPEM {
		return nil, fmt.Errorf("read %s: %s is no file of at most %d bytes: is it the right one?", kind, path, maxPEM)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", kind, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxPEM))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", kind, err)
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

// fileCredentials are gRPC's view of TLSFiles.
type fileCredentials struct {
	credentials.TransportCredentials // of the files as they were at first, for what does not connect
	files                            TLSFiles
}

func (f TLSFiles) credentials() (credentials.TransportCredentials, error) {
	cfg, err := f.config()
	if err != nil {
		return nil, err
	}
	return fileCredentials{credentials.NewTLS(cfg), f}, nil
}

// ClientHandshake fails while the files do not go together; gRPC tries again.
func (c fileCredentials) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	now, err := c.files.config()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(now).ClientHandshake(ctx, authority, conn)
}

// Clone keeps the files: the method of what is embedded would lose them.
func (c fileCredentials) Clone() credentials.TransportCredentials {
	return fileCredentials{c.TransportCredentials.Clone(), c.files}
}
