package httpfence

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/fencelock/fencelock/fencing"
)

// Transport sends the sequencer of a request's context along. The zero Transport
// is ready to use.
//
// A request that has a Fencing-Token header already is sent as it is.
type Transport struct {
	// Base does the rest; nil means http.DefaultTransport.
	Base http.RoundTripper

	// Guard says which lock guards what the request asks for; "" means none, and
	// the request is sent without a sequencer. If the context does not carry that
	// lock's, the request fails unsent.
	//
	// Nil: the context carries one sequencer at most, and that is sent. If it carries
	// several, the request fails unsent with fencing.ErrWrongGuard; if none, it is
	// sent without, and a fenced service answers 428. A redirect to another host is
	// followed without: the caller has not chosen it, and the names of locks, and
	// what can be done with the present token, are not its business.
	Guard func(*http.Request) string
}

// RoundTrip sends a request.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := t.choose(r)
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, fmt.Errorf("choose a sequencer: %w", err)
	}
	if text != "" {
		r = r.Clone(r.Context())
		if r.Header == nil {
			r.Header = http.Header{}
		}
		r.Header.Set(Header, text)
	}
	return t.base().RoundTrip(r)
}

// choose returns the text to be sent, or "" for none.
func (t Transport) choose(r *http.Request) (string, error) {
	if len(r.Header.Values(Header)) > 0 {
		return "", nil
	}
	if t.Guard == nil {
		if led(r) {
			return "", nil
		}
		seq, err := fencing.Sole(r.Context())
		if errors.Is(err, fencing.ErrMissing) {
			return "", nil
		} else if err != nil {
			return "", err
		}
		return seq.String(), nil
	}
	guard := t.Guard(r)
	if guard == "" {
		return "", nil
	}
	seq, err := fencing.ForGuard(r.Context(), guard)
	if err != nil {
		return "", err
	}
	return seq.String(), nil
}

// led reports whether redirects have led from the caller's host to another one.
func led(r *http.Request) bool {
	first := r
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	return first != r && first.URL.Host != r.URL.Host
}

func (t Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// CloseIdleConnections closes those of Base, for http.Client's method of that name.
func (t Transport) CloseIdleConnections() {
	if base, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
