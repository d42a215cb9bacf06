package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.uber.org/zap"
)

// path is not one of etcd's.
const path = "/fencelock/bootstrap"

// requestTime bounds one question: headers, an answer of a few hundred bytes, a
// TLS handshake.
const requestTime = 2 * time.Second

// server serves this member's answer where etcd will listen.
type server struct {
	http http.Server
	wg   sync.WaitGroup

	mu     sync.Mutex
	answer Answer
}

func serve(listen []url.URL, tls *transport.TLSInfo, answer Answer, log *zap.Logger) (*server, error) {
	s := &server{answer: answer}
	mux := http.NewServeMux()
	mux.Handle("GET "+path, s)
	s.http = http.Server{
		Handler:      mux,
		ReadTimeout:  requestTime,
		WriteTimeout: requestTime,
		ErrorLog:     zap.NewStdLog(log.WithOptions(zap.IncreaseLevel(zap.ErrorLevel))),
	}
	listeners, err := listenAll(listen, tls)
	if err != nil {
		return nil, err
	}
	for _, l := range listeners {
		s.wg.Go(func() { _ = s.http.Serve(l) }) // ends with stop
	}
	return s, nil
}

func listenAll(listen []url.URL, tls *transport.TLSInfo) ([]net.Listener, error) {
	var listeners []net.Listener
	for _, u := range listen {
		l, err := transport.NewListener(u.Host, u.Scheme, tls)
		if err != nil {
			for _, open := range listeners {
				err = errors.Join(err, open.Close())
			}
			return nil, fmt.Errorf("listen for peers on %s: %w", u.Host, err)
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

// ServeHTTP answers.
func (s *server) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	answer := s.answer
	s.mu.Unlock()
	answer.Clock = time.Now().UnixMicro()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the other side asks again
}

func (s *server) set(answer Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// stop frees the addresses. An answer on its way gets a moment to leave.
func (s *server) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), interval)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	s.wg.Wait()
}
