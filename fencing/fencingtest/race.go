package fencingtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fencelock/fencelock/fencing"
)

const racers = 50

// seedVariable takes back the seed that a failed race has printed.
const seedVariable = "FENCINGTEST_SEED"

// raceCases are about holders that overlap. The value is a list to which each
// racer appends, by a read and a write, so that it tells the order in which the
// writes landed.
func raceCases() []testCase {
	return []testCase{
		{name: "racers in any order", needs: []Capability{AnyToken}, check: anyOrder},
		{name: "a relay of racers", check: relay},
		{name: "racers of one token", check: equalRacers},
	}
}

// entry is one append: the racer's token and its lap.
type entry struct {
	token fencing.Token
	lap   int
}

// ledger is what the racers know of their appends.
type ledger struct {
	mu      sync.Mutex
	acked   []entry
	perhaps []entry // outcome unknown
	errors  []string
}

// anyOrder lets all racers loose at once, each for three appends. Only a few of
// them are admitted: those whose tokens are higher than all that came before.
func anyOrder(p *probe) {
	tokens := make([]fencing.Token, racers)
	for i := range tokens {
		tokens[i] = p.next()
	}
	random := rand.New(rand.NewPCG(p.seed(), 0))
	random.Shuffle(racers, func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
	book := &ledger{}
	var wait sync.WaitGroup
	begin := make(chan struct{})
	for _, token := range tokens {
		wait.Go(func() {
			<-begin
			racer{p, book, token, func(int) {}}.run(3)
		})
	}
	close(begin)
	wait.Wait()
	book.check(p)
}

// relay lets one racer loose after the other, each at the very moment at which the
// last one begins a read or a write, so that hand-overs meet operations under way.
func relay(p *probe) {
	random := rand.New(rand.NewPCG(p.seed(), 0))
	book := &ledger{}
	var wait sync.WaitGroup
	for range racers {
		token, moment := p.next(), 1+random.IntN(4)
		handOver, pass := context.WithCancel(p.Context())
		wait.Go(func() {
			defer pass() // refused before its moment came: the suite will object
			racer{p, book, token, func(step int) {
				if step == moment {
					pass()
				}
			}}.run(10)
		})
		<-handOver.Done()
	}
	wait.Wait()
	book.check(p)
}

func (p *probe) seed() uint64 {
	seed := rand.Uint64()
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			p.Fatalf("%s: %v", seedVariable, err)
		}
	}
	p.Logf("to shuffle like this again: %s=%d", seedVariable, seed)
	return seed
}

// racer appends to the list until it is refused.
type racer struct {
	*probe
	book  *ledger
	token fencing.Token
	about func(step int) // called with 1, 2, 3 … before each operation
}

func (r racer) run(laps int) {
	for lap := range laps {
		r.about(2*lap + 1)
		list, err := r.do(as(r.token, Read, ""))
		if err != nil {
			r.book.refused(r.probe, as(r.token, Read, ""), err)
			return
		}
		r.about(2*lap + 2)
		e := entry{r.token, lap}
		_, err = r.do(as(r.token, Write, strings.TrimPrefix(fmt.Sprintf("%s %v.%d", list, e.token, e.lap), " ")))
		if errors.Is(err, fencing.ErrUncertain) {
			r.book.note(&r.book.perhaps, e)
			return
		} else if err != nil {
			r.book.refused(r.probe, as(r.token, Write, ""), err)
			return
		}
		r.book.note(&r.book.acked, e)
	}
}

func (b *ledger) note(list *[]entry, e entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*list = append(*list, e)
}

// refused keeps refusals that no overtaken racer should see.
func (b *ledger) refused(p *probe, op Op, err error) {
	if errors.Is(err, fencing.ErrStale) || p.harness.NextToken != nil && errors.Is(err, fencing.ErrNotHeld) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = append(b.errors, fmt.Sprintf("%s: %v", show(op), err))
}

// check reads the list as the newest holder, and finds in it every append that
// was acknowledged, nothing that was refused, and no lower token after a higher.
func (b *ledger) check(p *probe) {
	p.Helper()
	for _, text := range b.errors {
		p.Errorf("%s, want it admitted or refused as stale", text)
	}
	text := p.admit(as(p.next(), Read, ""))
	list, err := parseList(text)
	if err != nil {
		p.Fatalf("the list is %q: %v", text, err)
	}
	for _, e := range b.acked {
		if !slices.Contains(list, e) {
			p.Errorf("token %v was told that its append %d is written; the list lost it: %s", e.token, e.lap, text)
		}
	}
	for i, e := range list {
		if !slices.Contains(b.acked, e) && !slices.Contains(b.perhaps, e) {
			p.Errorf("append %d of token %v was refused, and is in the list: %s", e.lap, e.token, text)
		}
		if i > 0 && e.token < list[i-1].token {
			p.Errorf("token %v landed after %v: %s", e.token, list[i-1].token, text)
		}
	}
	p.Logf("%d racers, %d appends", racers, len(list))
}

func parseList(text string) ([]entry, error) {
	var list []entry
	for _, word := range strings.Fields(text) {
		number, lap, _ := strings.Cut(word, ".")
		token, err := fencing.ParseToken(number)
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(lap)
		if err != nil {
			return nil, err
		}
		list = append(list, entry{token, n})
	}
	return list, nil
}

// equalRacers wants none refused: one holder may work from many goroutines.
func equalRacers(p *probe) {
	token := p.next()
	var wait sync.WaitGroup
	errs := make([]error, racers)
	for i := range errs {
		wait.Go(func() { _, errs[i] = p.do(as(token, p.kinds()[i%len(p.kinds())], "x")) })
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			p.Errorf("racer %d of one token: got %v, want it admitted", i, err)
		}
	}
	p.unmoved(token, p.admit(as(token, Read, "")))
}
