package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fencelock/fencelock/client"
)

// Config returns what client.New takes. It reads the TLS files, to say what is
// wrong with them; the client reads them anew for every connection.
func (c Client) Config() (client.Config, error) {
	if err := c.check(); err != nil {
		return client.Config{}, err
	}
	files := client.TLSFiles{CACert: c.CACert, Cert: c.Cert, Key: c.Key}
	if err := files.Check(); err != nil {
		return client.Config{}, err
	}
	return client.Config{
		Endpoints:   c.Endpoints,
		TTL:         c.TTL,
		Namespace:   c.Namespace,
		Owner:       c.Owner,
		TLSFiles:    files,
		Username:    c.User,
		Password:    c.Password,
		DialTimeout: c.DialTimeout,
	}, nil
}

// check refuses settings that do not go together.
func (c Client) check() error {
	switch {
	case c.User != "" && c.Password == "":
		return fmt.Errorf("user %q: no password; set %sCLIENT_PASSWORD, or client.password in the file", c.User, prefix)
	case c.User == "" && c.Password != "":
		return errors.New("a password without a user; set --user as well")
	case (c.Cert == "") != (c.Key == ""):
		return errors.New("--cert and --key go together")
	}
	return c.checkSchemes()
}

// checkSchemes refuses endpoints that etcd's client would talk to without TLS
// although TLS was asked for: it goes by the scheme of the first endpoint.
func (c Client) checkSchemes() error {
	secure, plain := "", ""
	for _, endpoint := range c.Endpoints {
		switch {
		case strings.HasPrefix(endpoint, "https:"):
			secure = endpoint
		case strings.HasPrefix(endpoint, "http:"), !c.hasTLS():
			plain = endpoint
		}
	}
	switch {
	case plain != "" && c.hasTLS():
		return fmt.Errorf("endpoint %s: http, but TLS files are given; write https, or leave the scheme out", plain)
	case plain != "" && secure != "":
		return fmt.Errorf("endpoints %s and %s: one with TLS, one without; use one of both for all", secure, plain)
	}
	return nil
}

func (c Client) hasTLS() bool { return c.CACert != "" || c.Cert != "" }
