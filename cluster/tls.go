package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// checkFiles reads all TLS files, so that a member with one that cannot serve
// ends at its start instead of refusing every connection.
func (c Config) checkFiles() error {
	if c.ClientTLS.enabled() {
		if _, err := c.ClientTLS.serverConfig(); err != nil {
			return fmt.Errorf("client TLS: %w", err)
		}
	}
	if c.PeerTLS.enabled() {
		if err := c.PeerTLS.checkPeer(); err != nil {
			return fmt.Errorf("peer TLS: %w", err)
		}
		if err := c.checkPeerHosts(); err != nil {
			return fmt.Errorf("peer TLS: %w", err)
		}
	}
	return nil
}

// checkPeerHosts looks whether the certificate is for the hosts where the other members
// dial this one; they do, and it may be another member's. A single node has none.
func (c Config) checkPeerHosts() error {
	if len(c.InitialCluster) == 1 && !c.Existing {
		return nil
	}
	pair, err := readPair(c.PeerTLS.CertFile, c.PeerTLS.KeyFile)
	if err != nil {
		return err
	}
	a, err := c.addresses()
	if err != nil {
		return err
	}
	for _, u := range a.advertisePeer {
		if err := pair.Leaf.VerifyHostname(u.Hostname()); err != nil {
			return fmt.Errorf("certificate %s: its peers would refuse it, they dial this member at %s, and it is not for that host: %w; is it another member's? If not, make one with that name",
				c.PeerTLS.CertFile, u.Hostname(), err)
		}
	}
	return nil
}

// checkPeer also verifies the member's own certificate as its peers will, both
// when it is dialed and when it dials.
func (t TLS) checkPeer() error {
	cfg, err := t.serverConfig()
	if err != nil || t.CAFile == "" {
		return err
	}
	chain := cfg.Certificates[0]
	between := x509.NewCertPool()
	for _, der := range chain.Certificate[1:] {
		if cert, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(cert)
		}
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		verify := x509.VerifyOptions{Roots: cfg.ClientCAs, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{usage}}
		if _, err := chain.Leaf.Verify(verify); err != nil {
			return fmt.Errorf("certificate %s: its peers would refuse it, it does not pass for server and client under the CA %s: %w", t.CertFile, t.CAFile, err)
		}
	}
	return nil
}

// serverConfig is what the files say now. A CA means that clients must show a
// certificate, as it does to etcd.
func (t TLS) serverConfig() (*tls.Config, error) {
	pair, err := readPair(t.CertFile, t.KeyFile)
	if err != nil {
		return nil, err
	}
	cfg := &tls.Config{
		MinVersion:             tls.VersionTLS12,
		Certificates:           []tls.Certificate{pair},
		NextProtos:             []string{"h2"},
		SessionTicketsDisabled: true, // a resumed session would not look at the CA again
	}
	if t.CAFile == "" {
		return cfg, nil
	}
	if cfg.ClientCAs, err = readPool(t.CAFile); err != nil {
		return nil, err
	}
	cfg.ClientAuth = tls.RequireAndVerifyClientCert
	return cfg, nil
}

// rotating reads the files anew for every connection. While they do not go
// together, since somebody is about to replace them, it keeps to the last ones
// that did.
type rotating struct {
	files TLS
	log   *zap.Logger

	mu     sync.Mutex
	last   *tls.Config // never nil
	broken string      // the error that was logged last; empty: none
}

func newRotating(files TLS, log *zap.Logger) (*rotating, error) {
	cfg, err := files.serverConfig()
	if err != nil {
		return nil, err
	}
	return &rotating{files: files, log: log, last: cfg}, nil
}

func (r *rotating) config(*tls.ClientHelloInfo) (*tls.Config, error) {
	cfg, err := r.files.serverConfig()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.last, r.broken = cfg, ""
	} else if r.broken != err.Error() {
		r.broken = err.Error()
		r.log.Warn("new TLS files cannot be used; the last good ones serve on", zap.Error(err))
	}
	return r.last, nil
}

// setClientTLS makes etcd leave the clients' TLS to gRPC, and gives gRPC the
// files as they are at each connection. etcd itself reads a CA once. It leaves
// TLS to gRPC only where HTTP has a listener of its own; that one is a socket in
// the data folder, which nobody else may enter. Beside that, gRPC serves watches
// over TLS without starving them, which Go's HTTP server does not (etcd issue
// 15402).
func setClientTLS(c *embed.Config, cfg Config) error {
	c.ClientTLSInfo = tlsInfo(cfg.ClientTLS)
	if !cfg.ClientTLS.enabled() {
		return nil
	}
	files, err := newRotating(cfg.ClientTLS, cfg.Logger)
	if err != nil {
		return fmt.Errorf("client TLS: %w", err)
	}
	socket, err := socketPath(cfg.DataDir)
	if err != nil {
		return err
	}
	c.ListenClientHttpUrls = []url.URL{{Scheme: "unix", Path: socket}}
	creds := credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: files.config})
	c.GRPCAdditionalServerOptions = append(c.GRPCAdditionalServerOptions, grpc.Creds(creds))
	return nil
}

// maxSocket is the longest path of a socket on macOS, in bytes; Linux has 107.
const maxSocket = 103

func socketPath(dataDir string) (string, error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	path := filepath.Join(dir, "http.sock")
	if len(path) > maxSocket {
		return "", fmt.Errorf("data folder %s: with TLS its path may have %d bytes, since a socket lies in it; use a shorter one", dir, maxSocket-len("/http.sock"))
	}
	return path, nil
}

// tlsInfo leaves it to the CA who is a member: etcd would also look up the names
// in a peer's certificate and compare addresses, which fails behind NAT, on hosts
// with several addresses, and for a container whose name is not published yet.
func tlsInfo(t TLS) transport.TLSInfo {
	return transport.TLSInfo{
		CertFile:            t.CertFile,
		KeyFile:             t.KeyFile,
		TrustedCAFile:       t.CAFile,
		ClientCertAuth:      t.ClientCertAuth,
		SkipClientSANVerify: true,
	}
}

// check holds the settings of one side to each other, without a look at the files.
func (t TLS) check(side string) error {
	switch {
	case (t.CertFile == "") != (t.KeyFile == ""):
		return fmt.Errorf("%s TLS: certificate and key go together", side)
	case t.ClientCertAuth && (t.CAFile == "" || !t.enabled()):
		return fmt.Errorf("%s TLS: client certificates need a certificate, a key and a CA", side)
	case t.CAFile != "" && !t.enabled():
		return fmt.Errorf("%s TLS: a CA without a certificate has no effect", side)
	}
	return nil
}

func (t TLS) enabled() bool { return t.CertFile != "" }
