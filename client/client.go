package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
	"github.com/fencelock/fencelock/fencing/kv"
	"github.com/fencelock/fencelock/fencing/kv/outcome"
)

const (
	// DefaultEndpoint is where a client looks for a cluster unless told otherwise.
	DefaultEndpoint = "127.0.0.1:2379"

	// DefaultDialTimeout bounds each request unless set otherwise.
	DefaultDialTimeout = 5 * time.Second
)

// Config of a client. The zero Config is ready to use: one member on this machine.
type Config struct {
	Endpoints   []string          // members, as host:port or URLs; default DefaultEndpoint
	TTL         time.Duration     // of the default session, whole seconds, at least MinTTL; default DefaultTTL
	Namespace   string            // where all keys lie; default keys.DefaultNamespace
	Owner       string            // who this is, for people who look at a lock; default "host:pid"
	Labels      map[string]string // put into every claim, beside those of a Request
	TLS         *tls.Config       // nil: no TLS
	TLSFiles    TLSFiles          // instead of TLS: files that may be rotated
	Username    string            // of an etcd user, if the cluster asks for one
	Password    string
	DialTimeout time.Duration // how long one request may go without an answer; default DefaultDialTimeout
	Logger      *zap.Logger   // default: none
	Observer    Observer      // is told what happens, for metrics; default: nobody
	// Etcd is a ready client to use instead of Endpoints, TLS, TLSFiles and Username; Close
	// leaves it open. Where proxies stand between it and the members, give it the
	// dial option outcome.SendOnce, as this package does with its own.
	Etcd *clientv3.Client
}

// Client takes locks. It is made once per process and shared; its methods may be
// called from several goroutines.
type Client struct {
	config Config
	etcd   *clientv3.Client
	space  keys.Space
	log    *zap.Logger
	clock  clock

	ctx  context.Context // ends with Close; governs what outlives a call
	stop context.CancelFunc
	work sync.WaitGroup // calls and goroutines that must end before the connection does

	watchStream atomic.Int64 // which stream new watches use, see onStream

	mu       sync.Mutex
	closed   bool
	sessions map[*Session]struct{} // every session that has not ended
	current  *Session              // the default session, if it has been needed
	opening  *opening              // its replacement on the way, or nil
}

// opening is a session being made, for everybody who waits for it.
type opening struct {
	done    chan struct{}
	session *Session
	err     error
}

// New makes a client. It does not dial, unless there is a Username to log in
// with: an unreachable cluster is reported by the first request that needs it,
// within DialTimeout.
func New(cfg Config) (*Client, error) {
	space, err := keys.NewSpace(cfg.Namespace)
	if err != nil {
		return nil, err
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	etcd := cfg.Etcd
	if etcd == nil {
		settings, err := cfg.etcd()
		if err != nil {
			return nil, err
		}
		if etcd, err = clientv3.New(settings); err != nil {
			return nil, outcome.OfRead(context.Background(), "connect to "+strings.Join(cfg.Endpoints, ", "), err, cfg.Endpoints)
		}
	}
	c := &Client{config: cfg, etcd: etcd, space: space, log: cfg.Logger, clock: newClock(), sessions: map[*Session]struct{}{}}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c, nil
}

func (cfg Config) validate() error {
	if cfg.TTL != 0 {
		if err := checkTTL(cfg.TTL); err != nil {
			return err
		}
	}
	if cfg.DialTimeout < 0 {
		return fmt.Errorf("dial time-out %v: want more than zero, or zero for %v", cfg.DialTimeout, DefaultDialTimeout)
	}
	if cfg.TLS != nil && cfg.TLSFiles != (TLSFiles{}) {
		return errors.New("TLS and TLSFiles: give one of both")
	}
	for _, endpoint := range cfg.Endpoints {
		if endpoint == "" {
			return errors.New("endpoints: one of them is empty; want host:port")
		}
	}
	return nil
}

func (cfg Config) withDefaults() Config {
	if len(cfg.Endpoints) == 0 {
		cfg.Endpoints = []string{DefaultEndpoint}
	}
	if cfg.TTL == 0 {
		cfg.TTL = DefaultTTL
	}
	if cfg.DialTimeout == 0 {
		cfg.DialTimeout = DefaultDialTimeout
	}
	if cfg.Owner == "" {
		host, _ := os.Hostname()
		cfg.Owner = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	if cfg.Observer == nil {
		cfg.Observer = unobserved{}
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	return cfg
}

// etcd configures the connection. A member that stops answering is dropped after
// about 13 s: gRPC does not allow a shorter keep-alive than 10 s. Requests do not
// wait for that, they are repeated elsewhere where that is safe. An idle connection
// is not probed: etcd's members end one that is, with "too many pings".
//
// With a user, the connection is told of logins, see logins; with TLSFiles, it
// reads them.
func (cfg Config) etcd() (clientv3.Config, error) {
	settings := clientv3.Config{
		Endpoints:            cfg.Endpoints,
		TLS:                  cfg.TLS,
		Username:             cfg.Username,
		Password:             cfg.Password,
		DialTimeout:          cfg.DialTimeout,
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		DialOptions:          []grpc.DialOption{outcome.SendOnce(), new(clusters).option()},
		Logger:               cfg.Logger.Named("etcd"),
	}
	if cfg.Username != "" {
		settings.DialOptions = append(settings.DialOptions, new(logins).options()...)
	}
	if cfg.TLSFiles == (TLSFiles{}) {
		return settings, nil
	}
	creds, err := cfg.TLSFiles.credentials()
	if err != nil {
		return clientv3.Config{}, err
	}
	settings.DialOptions = append(settings.DialOptions, grpc.WithTransportCredentials(creds))
	return settings, nil
}

// Etcd returns the etcd client underneath.
func (c *Client) Etcd() *clientv3.Client { return c.etcd }

// KV returns a handle on the records behind seq's guard, for a sequencer that
// was handed over by a lock's holder. It sends no request.
func (c *Client) KV(seq fencing.Sequencer) (*kv.KV, error) {
	if err := c.whyClosed(); err != nil {
		return nil, err
	}
	return kv.New(c.etcd, seq, c.kvConfig())
}

// Check asks whether seq is the current holder's: nil, or *fencing.StaleError,
// ErrNotHeld or ErrNotIssued. The answer may be outdated when it arrives: it is
// for early refusals, a fence is what protects.
func (c *Client) Check(ctx context.Context, seq fencing.Sequencer) error {
	return c.during(ctx, func(ctx context.Context) error { return kv.Check(ctx, c.etcd, seq, c.kvConfig()) })
}

func (c *Client) kvConfig() kv.Config {
	return kv.Config{
		Namespace:  c.config.Namespace,
		Timeout:    c.config.DialTimeout,
		Background: c.background,
		Closed:     c.whyClosed,
		Refused:    c.config.Observer.Refused,
	}
}

// whyClosed is nil until Close is called.
func (c *Client) whyClosed() error {
	if c.ctx.Err() != nil {
		return fmt.Errorf("client: %w", ErrClosed)
	}
	return nil
}

// background runs f in a goroutine that Close ends and waits for.
func (c *Client) background(f func(context.Context)) {
	leave, err := c.enter()
	if err != nil {
		return
	}
	go func() {
		defer leave()
		f(c.ctx)
	}()
}

// enter holds off the end of Close until leave is called.
func (c *Client) enter() (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("client: %w", ErrClosed)
	}
	c.work.Add(1)
	return c.work.Done, nil
}

// during makes a request of a caller's, which Close ends and waits for.
func (c *Client) during(ctx context.Context, request func(context.Context) error) error {
	leave, err := c.enter()
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := c.whileOpen(ctx)
	defer cancel()
	return c.orClosed(request(ctx))
}

// whileOpen returns a child of ctx that Close ends too, for loops whose bodies are
// the caller's: Close cannot wait for them.
func (c *Client) whileOpen(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// orClosed turns an error into ErrClosed if the client was closed meanwhile: then
// that is why the request failed, or nobody cares any more.
func (c *Client) orClosed(err error) error {
	if err != nil && c.ctx.Err() != nil {
		return fmt.Errorf("client: %w (%v)", ErrClosed, err)
	}
	return err
}

// Close gives back everything that the client holds and ends its goroutines. It
// returns within a few seconds even when no member answers; what could not be
// given back then is freed after its TTL. It may be called twice.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop()
	c.work.Wait() // from here on nobody makes another session
	c.mu.Lock()
	all := slices.Collect(maps.Keys(c.sessions))
	c.mu.Unlock()
	err := closeAll(all)
	if c.config.Etcd == nil {
		c.etcd.Close() // its only error is that of closing twice
	}
	return err
}

// closeAll closes sessions side by side: each may take a while.
func closeAll(sessions []*Session) error {
	errs := make([]error, len(sessions))
	var closing sync.WaitGroup
	for i, s := range sessions {
		closing.Go(func() { errs[i] = s.Close() })
	}
	closing.Wait()
	return errors.Join(errs...)
}
