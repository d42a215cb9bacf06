package config

import (
	"crypto/tls"

	"go.etcd.io/etcd/client/pkg/v3/transport"
)

// TLS reads the files for a connection that is made once, as by a member that
// joins, or to see why nobody answers; nil: there are none. [Client.Config] is for what lives longer.
func (c Client) TLS() (*tls.Config, error) {
	if !c.hasTLS() {
		return nil, nil
	}
	return transport.TLSInfo{CertFile: c.Cert, KeyFile: c.Key, TrustedCAFile: c.CACert}.ClientConfig()
}
