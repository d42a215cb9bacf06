package queue

import (
	"slices"
	"testing"

	"github.com/fencelock/fencelock/fencing"
	"github.com/fencelock/fencelock/fencing/keys"
)

// line makes a sorted queue from a drawing: "x33 s34" is an exclusive claim of
// token 33 before a shared one of token 34.
func line(drawn ...Claim) []Claim { return drawn }

func x(token fencing.Token) Claim {
	return Claim{ClaimValue: keys.ClaimValue{Mode: keys.Exclusive}, Token: token}
}
func s(token fencing.Token) Claim {
	return Claim{ClaimValue: keys.ClaimValue{Mode: keys.SharedMode}, Token: token}
}

func tokens(claims []Claim) []fencing.Token {
	var list []fencing.Token
	for _, c := range claims {
		list = append(list, c.Token)
	}
	return list
}

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		queue            []Claim
		holders, waiters []fencing.Token
	}{
		"empty":                         {line(), nil, nil},
		"one exclusive":                 {line(x(1)), []fencing.Token{1}, nil},
		"exclusive, then others":        {line(x(1), x(2), s(3)), []fencing.Token{1}, []fencing.Token{2, 3}},
		"shared ones hold together":     {line(s(1), s(2), x(3), s(4)), []fencing.Token{1, 2}, []fencing.Token{3, 4}},
		"a shared one behind an excl.":  {line(x(1), s(2)), []fencing.Token{1}, []fencing.Token{2}},
		"an unknown mode holds alone":   {line(Claim{Token: 1}, s(2)), []fencing.Token{1}, []fencing.Token{2}},
		"only shared ones, all of them": {line(s(1), s(2), s(3)), []fencing.Token{1, 2, 3}, nil},
	} {
		holders, waiters := Split(c.queue)
		if !slices.Equal(tokens(holders), c.holders) || !slices.Equal(tokens(waiters), c.waiters) {
			t.Errorf("%s: got holders %v, waiters %v, want %v, %v", name, tokens(holders), tokens(waiters), c.holders, c.waiters)
		}
	}
}

func TestAhead(t *testing.T) {
	queue := line(s(1), x(2), s(3), s(4), x(5))
	for _, c := range []struct {
		token     fencing.Token
		exclusive bool
		want      fencing.Token // 0: nobody
	}{
		{1, false, 0},
		{2, true, 1},
		{3, false, 2},
		{4, false, 2}, // not the shared one at 3
		{5, true, 4},
		{9, false, 5},
		{9, true, 5},
	} {
		got, found := Ahead(queue, c.token, c.exclusive)
		if got.Token != c.want || found != (c.want != 0) {
			t.Errorf("token %v, exclusive %v: waits for %v, want %v", c.token, c.exclusive, got.Token, c.want)
		}
	}
}

func TestSort(t *testing.T) {
	queue := line(x(5), s(1), x(3))
	Sort(queue)
	if got, want := tokens(queue), []fencing.Token{1, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
