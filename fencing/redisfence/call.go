package redisfence

import (
	"context"
	"errors"
	"fmt"

	"github.com/fencelock/fencelock/fencing"
)

// operation is one run of the script.
type operation struct {
	doing  string // for errors
	name   string
	writes bool
	user   string // the user's script, for "run"
	keys   []string
	args   []string
}

// do performs op once no earlier write can land any more.
func (h *Handle) do(ctx context.Context, op operation) (any, error) {
	if err := h.settle(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", op.doing, err)
	}
	result, err := h.perform(ctx, op)
	if errors.Is(err, fencing.ErrUncertain) {
		h.mu.Lock()
		h.uncertain++
		h.mu.Unlock()
		_ = h.settle(ctx) // the next operation sees to it, if ctx has ended
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.doing, err)
	}
	return result, nil
}

// perform sends op until it is done or refused. Every round follows an answer
// that says that nothing was done.
func (h *Handle) perform(ctx context.Context, op operation) (any, error) {
	for {
		version, verified := h.known()
		answer, err := h.send(ctx, op, version, verified)
		if err != nil {
			return nil, err
		}
		switch verdict := answer.at(0); verdict {
		case "ok":
			h.learn(version, answer.at(1))
			return answer.rest(2), nil
		case "moved":
			h.learn(version, answer.at(1))
		case "ask":
			if err := h.verify(ctx); err != nil {
				return nil, err
			}
		default:
			return nil, h.refusal(verdict, answer.at(1))
		}
	}
}

// send runs the script once.
func (h *Handle) send(ctx context.Context, op operation, version string, verified bool) (words, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("nothing was sent: %w", context.Cause(ctx))
	}
	may := "ask"
	if verified {
		may = "raise"
	}
	text := script
	if op.name == "run" {
		text = withUser(op.user)
	}
	answer, err := h.fence.config.Eval(ctx, text,
		append([]string{h.fence.fenceKey(h.seq.Lock)}, op.keys...),
		append([]string{h.seq.Token.String(), version, freshVersion(), may, op.name}, op.args...))
	switch {
	case err == nil:
		return list(answer)
	case answered(err):
		return nil, err
	case op.writes:
		return nil, fmt.Errorf("%w: %w", fencing.ErrUncertain, err)
	}
	return nil, fmt.Errorf("%w: %w", fencing.ErrUnavailable, err)
}

func (h *Handle) verify(ctx context.Context) error {
	if err := h.fence.config.Verify(ctx, h.seq); err != nil {
		return fmt.Errorf("verify %s: %w", h.seq, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.verified = true
	return nil
}

// refusal is what a verdict means to the caller.
func (h *Handle) refusal(verdict, detail string) error {
	switch verdict {
	case "stale":
		highest, err := fencing.ParseToken(detail)
		if err != nil {
			return err
		}
		return &fencing.StaleError{Guard: h.seq.Lock, Token: h.seq.Token, Highest: highest}
	case "lost":
		return fmt.Errorf("%w: it stands at %s, and this handle has claimed it for %v", ErrLost, detail, h.seq.Token)
	case "broken":
		return notAFence(detail)
	case "error":
		return fmt.Errorf("redis: %s", detail)
	}
	return fmt.Errorf("redis answers %q, which is no verdict of this package's script", verdict)
}

func notAFence(value string) error {
	return fmt.Errorf("the fence's key holds %.40q, which is no fence: something else has written it", value)
}

// answered reports whether the server itself has answered with an error, before
// it ran the script. go-redis and rueidis tell; of other clients every error is
// taken for a lost answer.
func answered(err error) bool {
	var goRedis interface{ RedisError() }
	var rueidis interface{ IsNoScript() bool }
	return errors.As(err, &goRedis) || errors.As(err, &rueidis)
}
