package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fencelock/fencelock/client"
	"github.com/fencelock/fencelock/fencing"
)

const (
	// probeTime bounds the look at all endpoints after a command has failed.
	probeTime = time.Second

	// probedEndpoints is how many of them are looked at.
	probedEndpoints = 16
)

// whyNoAnswer looks at the endpoints after a command got no answer, and says what
// is the matter with each that has something: etcd's client tries until the time
// is up, and then says no more than that.
func (a *app) whyNoAnswer(ctx context.Context, err error) []string {
	silent := isAny(err, fencing.ErrUnavailable, fencing.ErrUncertain, context.DeadlineExceeded)
	if a.cluster == nil || !silent || isAny(err, client.ErrLocked, context.Canceled) || ctx.Err() != nil {
		return nil
	}
	secured, err := a.cluster.TLS()
	if err != nil {
		return nil // and the command has said so
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	endpoints := a.cluster.Endpoints[:min(len(a.cluster.Endpoints), probedEndpoints)]
	notes := make([]string, len(endpoints))
	var work sync.WaitGroup
	for i, endpoint := range endpoints {
		work.Go(func() {
			if err := probe(ctx, endpoint, secured); err != nil {
				notes[i] = endpoint + ": " + advice(err)
			}
		})
	}
	work.Wait()
	return notes
}

// probe opens a connection to one endpoint, as far as a member's first answer.
func probe(ctx context.Context, endpoint string, secured *tls.Config) error {
	address, secured, err := addressOf(endpoint, secured)
	if err != nil {
		return err
	}
	return greet(ctx, address, secured)
}

// addressOf is what to dial for an endpoint, and the TLS for it, nil for none.
func addressOf(endpoint string, secured *tls.Config) (string, *tls.Config, error) {
	scheme, rest, found := strings.Cut(endpoint, "://")
	if !found {
		scheme, rest = "", endpoint
	}
	address := strings.TrimRight(rest, "/")
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return "", nil, err
	}
	if scheme == "https" && secured == nil {
		secured = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if secured != nil {
		secured = secured.Clone()
		secured.ServerName = host
		secured.NextProtos = []string{"h2"}
	}
	return address, secured, nil
}

// errNoGRPC: something answers, but no member.
var errNoGRPC = errors.New("it is reachable, but does not answer as a member does; is it another service, or does it want TLS (https://… and --cacert)?")

// errSilent: the machine takes connections, and the process does not answer.
var errSilent = errors.New("it takes connections, but does not answer; is the member stopped, or overloaded?")

// greet connects and begins to speak HTTP/2, as gRPC does: a member answers with
// its settings at once. A certificate that it refuses shows here as well, not in
// the handshake.
func greet(ctx context.Context, address string, secured *tls.Config) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if end, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(end); err != nil {
			return err
		}
	}
	if secured != nil {
		secure := tls.Client(conn, secured)
		if err := secure.HandshakeContext(ctx); err != nil {
			return withoutTLS(err)
		}
		conn = secure
	}
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" // and empty settings
	if _, err := io.WriteString(conn, preface); err != nil {
		return err
	}
	err = isSettings(conn)
	if secured != nil && errors.Is(err, errNoGRPC) {
		return errHungUp
	}
	return err
}

// errHungUp: the connection ends behind the client's part of the handshake. What a
// member says of a missing certificate is lost if it hangs up on unread data.
var errHungUp = errors.New("it ends the connection once it has seen who comes: does it want a client's certificate (--cert and --key)? or is it another service?")

// errNoTLS: the other side hung up on a client that began with TLS, as members
// without it do.
var errNoTLS = errors.New("it ends a connection that begins with TLS; is it a member without it (http://), or the port of something else?")

// withoutTLS is what a handshake that failed says of the other side.
func withoutTLS(err error) error {
	if isAny(err, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET) {
		return errNoTLS
	}
	return silentIfLate(err)
}

// silentIfLate tells a process that does not answer from a machine that does not.
func silentIfLate(err error) error {
	if isAny(err, os.ErrDeadlineExceeded, context.DeadlineExceeded) {
		return errSilent
	}
	return err
}

// isSettings reads the head of a frame: three bytes of length, one of the type.
func isSettings(conn net.Conn) error {
	const settings = 4
	head := make([]byte, 9)
	_, err := io.ReadFull(conn, head)
	switch {
	case isAny(err, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET):
		return errNoGRPC
	case err != nil:
		return silentIfLate(err)
	case head[3] != settings:
		return errNoGRPC
	}
	return nil
}

// advice words the error of a connection, and what to do about it.
func advice(err error) string {
	var unknownCA x509.UnknownAuthorityError
	var wrongName x509.HostnameError
	var invalid x509.CertificateInvalidError
	var notTLS tls.RecordHeaderError
	var noHost *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused; is a member running there, and is this the port for clients?"
	case errors.As(err, &unknownCA):
		return fmt.Sprintf("its certificate is not trusted (%v); give the CA that signed it with --cacert", unknownCA)
	case errors.As(err, &wrongName):
		return fmt.Sprintf("its certificate is for another name (%v); use the name in the certificate, or have it made for this one", wrongName)
	case errors.As(err, &invalid):
		return fmt.Sprintf("its certificate is not valid (%v)", invalid)
	case errors.As(err, &notTLS):
		return "it does not speak TLS; write http://, and leave --cacert, --cert and --key out"
	case strings.Contains(err.Error(), "remote error: tls:"):
		return fmt.Sprintf("it refuses this client's certificate, or the lack of one (%v); give one with --cert and --key", err)
	case errors.As(err, &noHost):
		return fmt.Sprintf("no such host (%v)", noHost)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("no connection within %v; is the machine up, and does a firewall let this through?", probeTime)
	}
	return err.Error()
}
