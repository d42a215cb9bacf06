package demo

import (
	"fmt"
	"strings"
)

// opening is the balance that each run starts with.
const opening = 100

// What the workers add. Each sum of some of them is different, so that a balance
// says which ones it has.
const (
	addA = 10
	addB = 20
)

// Update is a change that a worker was told has been made.
type Update struct {
	Worker string
	Add    int
}

func (u Update) String() string { return fmt.Sprintf("%s's %d", u.Worker, u.Add) }

// ledger has the updates that were acknowledged.
type ledger []Update

// due is the balance that an account must have that lost nothing.
func (l ledger) due() int {
	sum := opening
	for _, u := range l {
		sum += u.Add
	}
	return sum
}

// sum writes the balance that is due as what it is made of.
func (l ledger) sum() string {
	text := fmt.Sprintf("acknowledged %d", opening)
	for _, u := range l {
		text += fmt.Sprintf(" + %s", u)
	}
	return text
}

// missing finds the updates that an account with this balance does not have.
func (l ledger) missing(balance int) ([]Update, error) {
	for set := range 1 << len(l) {
		var lost []Update
		gap := l.due() - balance
		for i, u := range l {
			if set&(1<<i) != 0 {
				lost = append(lost, u)
				gap -= u.Add
			}
		}
		if gap == 0 {
			return lost, nil
		}
	}
	return nil, fmt.Errorf("the balance is %d, which is not %d and some of what was acknowledged (%s)", balance, opening, l)
}

func (l ledger) String() string { return list(l) }

// list writes updates one after the other.
func list(updates []Update) string {
	var texts []string
	for _, u := range updates {
		texts = append(texts, u.String())
	}
	return strings.Join(texts, ", ")
}
