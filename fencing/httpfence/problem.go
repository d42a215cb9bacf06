package httpfence

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/fencelock/fencelock/fencing"
)

// typePrefix begins the type of each problem; its name follows. The URL leads to
// what the name means.
const typePrefix = "https://github.com/fencelock/fencelock/blob/main/docs/fencing.md#"

const contentType = "application/problem+json"

// problem is a problem document of RFC 9457. Guard and the tokens are its
// extensions, set for a stale token.
type problem struct {
	Type    string        `json:"type"`
	Title   string        `json:"title"`
	Status  int           `json:"status"`
	Detail  string        `json:"detail,omitempty"`
	Guard   string        `json:"guard,omitempty"`
	Token   fencing.Token `json:"token,omitempty"`
	Highest fencing.Token `json:"highest,omitempty"`
}

// refusal is an error of package fencing as a problem.
type refusal struct {
	is     error
	name   string // the last part of the problem's type
	status int
	public bool // whether the error's text is for the client
}

// refusals in the order in which an error is compared with them: an unknown outcome
// outweighs whatever was joined to it.
func refusals() []refusal {
	return []refusal{
		{fencing.ErrUncertain, "outcome-unknown", http.StatusInternalServerError, false},
		{fencing.ErrStale, "stale", http.StatusConflict, true},
		{fencing.ErrNotHeld, "not-held", http.StatusConflict, true},
		{fencing.ErrNotIssued, "not-issued", http.StatusForbidden, true},
		{fencing.ErrWrongGuard, "wrong-guard", http.StatusForbidden, true},
		{fencing.ErrMissing, "missing", http.StatusPreconditionRequired, true},
		{fencing.ErrMalformed, "malformed", http.StatusBadRequest, true},
		{fencing.ErrInvalidName, "invalid-name", http.StatusBadRequest, true},
		{fencing.ErrUnavailable, "unavailable", http.StatusServiceUnavailable, false},
	}
}

// WriteError answers a request with the refusal that err is or wraps, as a problem
// document. Any other error is answered with 500, and its text kept from the
// client. Nothing must have been written to w before.
func WriteError(w http.ResponseWriter, err error) {
	for _, r := range refusals() {
		if errors.Is(err, r.is) {
			r.problem(err).write(w)
			return
		}
	}
	problem{Type: "about:blank", Title: http.StatusText(http.StatusInternalServerError), Status: http.StatusInternalServerError}.write(w)
}

func (r refusal) problem(err error) problem {
	p := problem{Type: typePrefix + r.name, Title: r.is.Error(), Status: r.status}
	var stale *fencing.StaleError
	if errors.As(err, &stale) && r.is == fencing.ErrStale {
		p.Detail, p.Guard, p.Token, p.Highest = stale.Error(), stale.Guard, stale.Token, stale.Highest
	} else if r.public {
		p.Detail = err.Error()
	}
	return p
}

// notEntered is the answer to a request that the fence did not admit. Errors that
// are no refusals are the fence's own trouble, or the end of the request's patience.
func notEntered(err error) problem {
	for _, r := range refusals() {
		if errors.Is(err, r.is) {
			return r.problem(err)
		}
	}
	return problem{Type: typePrefix + "unavailable", Title: "the fence could not be asked", Status: http.StatusServiceUnavailable,
		Detail: "nothing was changed, and a retry is safe"}
}

func unguarded() problem {
	return problem{Type: typePrefix + "unguarded", Title: "no guard", Status: http.StatusInternalServerError,
		Detail: "the service has named no lock that guards this request"}
}

func (p problem) write(w http.ResponseWriter) {
	body, err := json.Marshal(p)
	if err != nil { // a problem's fields are texts and numbers
		body = []byte("{}")
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}
