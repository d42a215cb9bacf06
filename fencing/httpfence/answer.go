package httpfence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/fencelock/fencelock/fencing"
)

// maxProblem bounds what Error reads of a response that says it is a problem.
const maxProblem = 64 << 10

// Error returns the refusal that a response holds: an error of package fencing,
// for a stale token a *fencing.StaleError. It returns nil for every other response,
// whether it is a success or not. The body can be read and must be closed as before.
func Error(resp *http.Response) error {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != contentType || resp.StatusCode < http.StatusBadRequest {
		return nil
	}
	var read bytes.Buffer
	var answer struct {
		Type, Detail, Guard, Token, Highest string
	}
	err = json.NewDecoder(io.TeeReader(io.LimitReader(resp.Body, maxProblem), &read)).Decode(&answer)
	resp.Body = rest{io.MultiReader(&read, resp.Body), resp.Body}
	name, ours := strings.CutPrefix(answer.Type, typePrefix)
	if err != nil || !ours {
		return nil
	}
	for _, r := range refusals() {
		if r.name == name {
			return fmt.Errorf("%s: %w", describe(resp), refused(r.is, answer.Detail, answer.Guard, answer.Token, answer.Highest))
		}
	}
	return nil
}

// rest is a body of which something was read and is to be read again.
type rest struct {
	io.Reader
	io.Closer
}

func describe(resp *http.Response) string {
	if resp.Request == nil || resp.Request.URL == nil {
		return resp.Status
	}
	return resp.Request.Method + " " + resp.Request.URL.Redacted()
}

func refused(is error, detail, guard, token, highest string) error {
	low, lowErr := fencing.ParseToken(token)
	high, highErr := fencing.ParseToken(highest)
	if is == fencing.ErrStale && errors.Join(lowErr, highErr) == nil {
		return &fencing.StaleError{Guard: guard, Token: low, Highest: high}
	}
	if detail == "" {
		return is
	}
	return &answered{is, detail}
}

// answered is a refusal in the server's words.
type answered struct {
	is     error
	detail string
}

func (a *answered) Error() string { return a.detail }
func (a *answered) Unwrap() error { return a.is }
