package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"go.etcd.io/etcd/client/pkg/v3/transport"
)

// maxAnswer is more than any list of members needs.
const maxAnswer = 1 << 20

// asker asks the other members.
type asker struct {
	http  *http.Client
	peers []string // each is a member: its URLs, joined by commas
}

func newAsker(tls transport.TLSInfo, self Answer) (asker, error) {
	t, err := transport.NewTransport(tls, requestTime)
	if err != nil {
		return asker{}, fmt.Errorf("peer TLS: %w", err)
	}
	t.DisableKeepAlives = true // the other side's port is about to change hands
	others := slices.DeleteFunc(slices.Clone(self.Peers), func(member string) bool { return member == self.Member })
	refuseRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return asker{&http.Client{Transport: t, CheckRedirect: refuseRedirects}, others}, nil
}

// round asks everybody at once.
func (a asker) round(ctx context.Context) map[string]Heard {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	answers := make([]Heard, len(a.peers))
	var wg sync.WaitGroup
	for i, member := range a.peers {
		wg.Go(func() { answers[i] = a.ask(ctx, member) })
	}
	wg.Wait()
	heard := map[string]Heard{}
	for i, member := range a.peers {
		heard[member] = answers[i]
	}
	return heard
}

// ask takes the first of a member's URLs that answers.
func (a asker) ask(ctx context.Context, member string) (h Heard) {
	for u := range strings.SplitSeq(member, ",") {
		if h = a.askAt(ctx, u); !h.silent() {
			break
		}
	}
	return h
}

func (a asker) askAt(ctx context.Context, url string) Heard {
	resp, body, err := a.get(ctx, url+path)
	if err != nil {
		return Heard{Err: oneSided(err)}
	}
	var answer Answer
	if resp.StatusCode == http.StatusOK && json.Unmarshal(body, &answer) == nil && answer.Birth != "" {
		if answer.Protocol != protocol {
			return Heard{Err: fmt.Errorf("it runs another version of fencelock; make a new cluster with one version")}
		}
		return Heard{Answer: &answer}
	}
	etcd, _, err := a.get(ctx, url+"/members")
	if err != nil {
		return Heard{Err: err}
	}
	if id := etcd.Header.Get("X-Etcd-Cluster-ID"); id != "" {
		return Heard{Cluster: id}
	}
	return Heard{Err: fmt.Errorf("something else than fencelock answers there (HTTP status %d); correct --peers, or free that port", resp.StatusCode)}
}

// oneSided adds what to look at when the two sides differ in TLS: one with it hangs
// up on one without it.
func oneSided(err error) error {
	if errors.Is(err, http.ErrSchemeMismatch) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w; it runs: has one side of the two TLS for peers (--peer-cert …), and the other none?", cause(err))
	}
	return err
}

func (a asker) get(ctx context.Context, url string) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp, body, err
}
