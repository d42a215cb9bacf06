package httpfence_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/fencingtest"
	"github.com/fencelock/fencelock/fencing/filefence"
	"github.com/fencelock/fencelock/fencing/httpfence"
	"github.com/fencelock/fencelock/fencing/memfence"
)

// service is a fenced store behind HTTP, and its client.
type service struct {
	server *httptest.Server
	client *http.Client
	dir    string // of a service whose data outlives it
	verify fencingtest.Verify
}

func start(t testing.TB, fence httpfence.Fence, handler http.HandlerFunc) *service {
	guard := func(r *http.Request) string { return r.PathValue("guard") }
	mux := http.NewServeMux()
	mux.Handle("/{guard}/{key}", httpfence.Handler(guard, fence, handler))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &service{server: server, client: &http.Client{Transport: httpfence.Transport{}}}
}

// A POST stands for an Advance: any request would do.
var methods = map[fencingtest.Kind]string{fencingtest.Read: http.MethodGet, fencingtest.Write: http.MethodPut,
	fencingtest.Delete: http.MethodDelete, fencingtest.Advance: http.MethodPost}

func (s *service) Do(ctx context.Context, op fencingtest.Op) (string, error) {
	if op.Sequencer != (fencing.Sequencer{}) {
		ctx = fencing.NewContext(ctx, op.Sequencer)
	}
	place := fmt.Sprintf("%s/%s/%s", s.server.URL, url.PathEscape(op.Guard), op.Key)
	req, err := http.NewRequestWithContext(ctx, methods[op.Kind], place, strings.NewReader(op.Value))
	if err != nil {
		return "", err
	}
	if op.Text != "" {
		req.Header.Set(httpfence.Header, op.Text)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if err := httpfence.Error(resp); err != nil {
		return "", err
	}
	body, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		err = errors.Join(err, errors.New(resp.Status))
	}
	return string(body), err
}

// inMemory is a service without a database.
func inMemory(t testing.TB, verify fencingtest.Verify) fencingtest.Resource {
	var data sync.Map
	return start(t, memfence.New(memfence.Config{Verify: verify}), func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet:
			value, _ := data.LoadOrStore(r.URL.Path, "")
			io.WriteString(w, value.(string))
		case http.MethodPut:
			value, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, "", http.StatusBadRequest)
				return
			}
			data.Store(r.URL.Path, string(value))
		case http.MethodDelete:
			data.Delete(r.URL.Path)
		}
	})
}

// inFiles is a service whose handler fences its own writes.
func inFiles(t testing.TB, dir string, verify fencingtest.Verify) *service {
	s := start(t, httpfence.InHandler{}, func(w http.ResponseWriter, r *http.Request) {
		guard := r.PathValue("guard")
		path := filepath.Join(dir, url.PathEscape(guard)+" "+r.PathValue("key"))
		file, err := filefence.New(filefence.Config{Path: path, Guard: guard, Verify: verify})
		if err != nil {
			httpfence.WriteError(w, err)
			return
		}
		value, err := operate(r, file, guard)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			httpfence.WriteError(w, err)
			return
		}
		w.Write(value)
	})
	s.dir, s.verify = dir, verify
	return s
}

func operate(r *http.Request, file *filefence.File, guard string) ([]byte, error) {
	ctx := r.Context()
	seq, err := fencing.ForGuard(ctx, guard)
	if err != nil {
		return nil, err
	}
	switch r.Method {
	case http.MethodGet:
		return file.Read(ctx, seq)
	case http.MethodPut:
		value, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		return nil, file.Write(ctx, seq, value)
	case http.MethodDelete:
		return nil, file.Delete(ctx, seq)
	}
	return nil, file.Advance(ctx, seq)
}

func TestConformance(t *testing.T) {
	t.Run("fence in memory", func(t *testing.T) {
		fencingtest.Run(t, fencingtest.Harness{
			Open:    inMemory,
			Without: map[fencingtest.Capability]string{fencingtest.Restarts: "the fence dies with the process"},
		})
	})
	t.Run("fence in the handler", func(t *testing.T) {
		fencingtest.Run(t, fencingtest.Harness{
			Open: func(t testing.TB, verify fencingtest.Verify) fencingtest.Resource {
				return inFiles(t, t.TempDir(), verify)
			},
			Reopen: func(t testing.TB, r fencingtest.Resource) fencingtest.Resource {
				old := r.(*service)
				old.server.Close()
				return inFiles(t, old.dir, old.verify)
			},
			Without: map[fencingtest.Capability]string{fencingtest.ManyKeys: "each file has a fence of its own"},
		})
	})
}
