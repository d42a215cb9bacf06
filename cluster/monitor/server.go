package monitor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	// readyWait is for a linearizable read, which takes a millisecond or two.
	readyWait = time.Second

	// readWait bounds what a client takes to send a request, writeWait what it
	// takes to read the answer, and idleWait a connection between two of them:
	// scrapes come every 15 s to 60 s.
	readWait  = 5 * time.Second
	writeWait = 10 * time.Second

	// closeWait is for answers on their way when the member stops: /readyz then
	// says so, which is worth less than the stop itself.
	closeWait = 200 * time.Millisecond
	idleWait  = 2 * time.Minute

	// headerBytes bounds a request: there is nothing to send here.
	headerBytes = 16 << 10
)

// Server answers on the listener. It has an answer before the member is ready,
// and until it has stopped.
type Server struct {
	listener net.Listener
	http     *http.Server
	served   chan struct{} // closed when the listener's goroutine has ended
}

// Config is what a Server answers with.
type Config struct {
	Address string // host:port
	// Ready says why the member does not serve, or nil. It is called with a ctx
	// that ends after a second.
	Ready   func(context.Context) error
	Metrics prometheus.Collector // beside those of the default registry, which are etcd's and Go's
}

// Listen starts to answer.
func Listen(cfg Config) (*Server, error) {
	handler, err := newHandler(cfg)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", cfg.Address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("health and metrics: %w; another process listens there: stop it, or use another port", err)
	case err != nil:
		return nil, fmt.Errorf("health and metrics: %w", err)
	}
	s := &Server{listener: l, served: make(chan struct{}), http: &http.Server{
		Handler:           handler,
		ReadTimeout:       readWait,
		ReadHeaderTimeout: readWait,
		WriteTimeout:      writeWait,
		IdleTimeout:       idleWait,
		MaxHeaderBytes:    headerBytes,
	}}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // until Close
	}()
	return s, nil
}

// Address is where the server listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close ends the listener, lets what is being answered get its answer, and ends
// what is not answered in time.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = s.http.Shutdown(ctx)
	_ = s.http.Close()
	<-s.served
}

func newHandler(cfg Config) (http.Handler, error) {
	own := prometheus.NewRegistry() // of its own, since a process may run several members
	if err := own.Register(cfg.Metrics); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	both := prometheus.Gatherers{prometheus.DefaultGatherer, own}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", ready(cfg.Ready))
	mux.Handle("GET /metrics", promhttp.HandlerFor(both, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: writeWait / 2}))
	return mux, nil
}

func ready(why func(context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyWait)
		defer cancel()
		if err := why(ctx); err != nil {
			answer(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
			return
		}
		answer(w, http.StatusOK, "ready")
	}
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, text)
}
