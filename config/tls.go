package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// tls returns nil if no TLS files are given. An https endpoint then is verified
// against the system's CAs.
func (c Client) tls() (*tls.Config, error) {
	if !c.hasTLS() {
		return nil, nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CACert != "" {
		pool, err := readPool(c.CACert)
		if err != nil {
			return nil, err
		}
		cfg.RootCAs = pool
	}
	if c.Cert != "" {
		if _, err := c.certificate(nil); err != nil {
			return nil, err
		}
		cfg.GetClientCertificate = c.certificate
	}
	return cfg, nil
}

// certificate reads the client's certificate anew for every connection, so that a
// rotated one is used without a restart.
func (c Client) certificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("read client certificate: %w", err)
	}
	return &pair, nil
}

func readPool(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read CA: no certificate in %s; want PEM", path)
	}
	return pool, nil
}
