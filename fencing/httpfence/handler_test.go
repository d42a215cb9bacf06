package httpfence_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/httpfence"
	"github.com/fencelock/fencelock/fencing/memfence"
)

const guard = "accounts/42"

func always(*http.Request) string { return guard }

// serve answers one request with these Fencing-Token headers.
func serve(h http.Handler, tokens ...string) *http.Response {
	r := httptest.NewRequest(http.MethodPut, "/accounts/42", nil)
	for _, token := range tokens {
		r.Header.Add(httpfence.Header, token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func wantStatus(t *testing.T, resp *http.Response, want int) {
	t.Helper()
	if resp.StatusCode != want {
		t.Errorf("got %s, want %d", resp.Status, want)
	}
}

func TestHandlerAnswers(t *testing.T) {
	fence := memfence.New(memfence.Config{})
	h := httpfence.Handler(always, fence, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		tokens []string
		status int
		is     error
	}{
		{nil, 428, fencing.ErrMissing},
		{[]string{""}, 428, fencing.ErrMissing},
		{[]string{"33"}, 400, fencing.ErrMalformed},
		{[]string{"accounts/42#33", "accounts/42#34"}, 400, fencing.ErrMalformed},
		{[]string{"accounts/42#33", ""}, 400, fencing.ErrMalformed},
		{[]string{"accounts/43#33"}, 403, fencing.ErrWrongGuard},
		{[]string{"accounts/42#34", "accounts/42#34"}, 200, nil},
		{[]string{"accounts/42#33"}, 409, fencing.ErrStale},
	} {
		resp := serve(h, c.tokens...)
		if err := httpfence.Error(resp); resp.StatusCode != c.status || !errors.Is(err, c.is) {
			t.Errorf("%q: got %s, %v, want %d, %v", c.tokens, resp.Status, err, c.status, c.is)
		}
	}
}

// Without a fence of its own the middleware still sees what no handler has to.
func TestInHandlerRefusesWhatNoFenceAdmits(t *testing.T) {
	h := httpfence.Handler(always, httpfence.InHandler{}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for token, status := range map[string]int{"": 428, "33": 400, "accounts/43#33": 403, "accounts/42#33": 200} {
		wantStatus(t, serve(h, token), status)
	}
}

// The document of a refusal is part of the wire format: clients in other languages
// read it.
func TestStaleProblem(t *testing.T) {
	w := httptest.NewRecorder()
	httpfence.WriteError(w, fmt.Errorf("in the ledger: %w", &fencing.StaleError{Guard: guard, Token: 1<<53 + 1, Highest: 1<<53 + 2}))
	const want = `{"type":"https://github.com/fencelock/fencelock/blob/main/docs/fencing.md#stale","title":"stale fencing token","status":409,` +
		`"detail":"stale fencing token: token 9007199254740993 of \"accounts/42\": the fence has admitted 9007199254740994; ` +
		`take the lock again and redo the work from a fresh read","guard":"accounts/42","token":"9007199254740993","highest":"9007199254740994"}`
	if got := w.Body.String(); w.Code != 409 || w.Header().Get("Content-Type") != "application/problem+json" || got != want {
		t.Errorf("got %d %v\n%s\nwant\n%s", w.Code, w.Header(), got, want)
	}
}

func TestWriteError(t *testing.T) {
	for err, status := range map[error]int{
		fencing.ErrNotHeld:     409,
		fencing.ErrNotIssued:   403,
		fencing.ErrInvalidName: 400,
		fencing.ErrUnavailable: 503,
		fencing.ErrUncertain:   500,
		errors.Join(fencing.ErrUncertain, fencing.ErrStale): 500,
	} {
		w := httptest.NewRecorder()
		httpfence.WriteError(w, fmt.Errorf("reason: %w", err))
		resp := w.Result()
		got := httpfence.Error(resp)
		if resp.StatusCode != status || got == nil || !errors.Is(err, unwrapped(got)) {
			t.Errorf("%v: got %s, %v, want %d and the error back", err, resp.Status, got, status)
		}
	}
}

// unwrapped is the innermost error.
func unwrapped(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

// What is not the fence's is nobody's business outside, and no refusal.
func TestOtherErrorsAreNotTold(t *testing.T) {
	secret := errors.New("password is hunter2")
	for name, c := range map[string]struct {
		resp   *http.Response
		status int
		is     error
	}{
		"from the handler": {func() *http.Response {
			w := httptest.NewRecorder()
			httpfence.WriteError(w, secret)
			return w.Result()
		}(), 500, nil},
		"from the fence":                {serve(verifying(secret), "accounts/42#1"), 503, fencing.ErrUnavailable},
		"from a fence without a quorum": {serve(verifying(fmt.Errorf("%w: %w", fencing.ErrUnavailable, secret)), "accounts/42#1"), 503, fencing.ErrUnavailable},
	} {
		err := httpfence.Error(c.resp)
		body, _ := io.ReadAll(c.resp.Body)
		if c.resp.StatusCode != c.status || !errors.Is(err, c.is) || strings.Contains(string(body), "hunter2") {
			t.Errorf("%s: got %s, %v, %s, want %d, %v", name, c.resp.Status, err, body, c.status, c.is)
		}
	}
}

func verifying(err error) http.Handler {
	fence := memfence.New(memfence.Config{Verify: func(context.Context, fencing.Sequencer) error { return err }})
	return httpfence.Handler(always, fence, http.NotFoundHandler())
}

func TestRouteWithoutAGuard(t *testing.T) {
	h := httpfence.Handler(func(*http.Request) string { return "" }, httpfence.InHandler{}, http.NotFoundHandler())
	wantStatus(t, serve(h, "accounts/42#33"), 500)
}

func TestNilArguments(t *testing.T) {
	for name, f := range map[string]func(){
		"guard":   func() { httpfence.Handler(nil, httpfence.InHandler{}, http.NotFoundHandler()) },
		"fence":   func() { httpfence.Handler(always, nil, http.NotFoundHandler()) },
		"handler": func() { httpfence.Handler(always, httpfence.InHandler{}, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no %s: accepted", name)
				}
			}()
			f()
		}()
	}
}

// A newer token waits for the older handler to return; the older one is told, and
// its next request refused.
func TestNewerRequestWaitsForOlderHandler(t *testing.T) {
	inside, told, goOn := make(chan struct{}), make(chan error), make(chan struct{})
	h := httpfence.Handler(always, memfence.New(memfence.Config{}), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if seq, _ := fencing.ForGuard(r.Context(), guard); seq.Token == 33 {
			close(inside)
			<-r.Context().Done()
			told <- context.Cause(r.Context())
			<-goOn
		}
	}))
	older, newer := make(chan *http.Response, 1), make(chan *http.Response, 1)
	go func() { older <- serve(h, "accounts/42#33") }()
	<-inside
	go func() { newer <- serve(h, "accounts/42#34") }()
	if err := <-told; !errors.Is(err, fencing.ErrStale) {
		t.Errorf("the older handler is told %v, want ErrStale", err)
	}
	wantStatus(t, serve(h, "accounts/42#33"), 409)
	select {
	case resp := <-newer:
		t.Errorf("newer got %s while the older handler is at work", resp.Status)
	default:
	}
	close(goOn)
	wantStatus(t, <-older, 200)
	wantStatus(t, <-newer, 200)
}

func TestWaitingRequestGivesUp(t *testing.T) {
	fence := memfence.New(memfence.Config{})
	_, leave, err := fence.Enter(t.Context(), guard, fencing.Sequencer{Lock: guard, Token: 33})
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(t.Context())
	patience := interrupted{fence, func() { cancel(errors.New("gone")) }}
	h := httpfence.Handler(always, patience, http.NotFoundHandler())
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	r.Header.Set(httpfence.Header, "accounts/42#34")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	wantStatus(t, w.Result(), 503)
}

// interrupted does something before it asks its fence.
type interrupted struct {
	httpfence.Fence
	before func()
}

func (m interrupted) Enter(ctx context.Context, guard string, seq fencing.Sequencer) (context.Context, func(), error) {
	m.before()
	return m.Fence.Enter(ctx, guard, seq)
}

// A handler that panics has left the fence.
func TestPanicLeavesTheFence(t *testing.T) {
	h := httpfence.Handler(always, memfence.New(memfence.Config{}), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if seq, _ := fencing.ForGuard(r.Context(), guard); seq.Token == 33 {
			panic("handler")
		}
	}))
	func() {
		defer func() { _ = recover() }()
		serve(h, "accounts/42#33")
	}()
	wantStatus(t, serve(h, "accounts/42#34"), 200)
}

// Responses that are no refusals, or only look like one, stay as they are.
func TestErrorOfOtherResponses(t *testing.T) {
	problem := func(status int, kind, body string) *http.Response {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body))}
	}
	const ours = `{"type":"https://github.com/fencelock/fencelock/blob/main/docs/fencing.md#stale"}`
	for name, resp := range map[string]*http.Response{
		"a success":          problem(200, "application/problem+json", ours),
		"plain text":         problem(409, "text/plain", ours),
		"no content type":    problem(409, "", ours),
		"another's problem":  problem(409, "application/problem+json", `{"type":"https://example.com/stale","token":7}`),
		"no type":            problem(409, "application/problem+json", `{}`),
		"a problem not here": problem(409, "application/problem+json", strings.Replace(ours, "#stale", "#unknown", 1)),
		"half a document":    problem(409, "application/problem+json", ours[:40]),
		"far too long":       problem(409, "application/problem+json", strings.Repeat(" ", 70<<10)+ours),
	} {
		before := resp.Body
		if err := httpfence.Error(resp); err != nil {
			t.Errorf("%s: got %v, want nil", name, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || len(body) < 2 || !strings.HasSuffix(string(body), "}") && name != "half a document" {
			t.Errorf("%s: the body is now %.60q, %v", name, body, err)
		}
		_ = before.Close()
	}
	bare := problem(409, "application/problem+json; charset=utf-8", ours)
	if err := httpfence.Error(bare); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("a refusal without details: got %v, want ErrStale", err)
	}
}
