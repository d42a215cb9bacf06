package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fencelock/fencelock/fencing/keys"
)

// spaces are the namespaces whose locks and fences a snapshot is searched for:
// those that are named, and those that are found by their fences.
type spaces struct {
	named []string // each ends in "/"
	found []string
}

// namedSpaces has the default namespace and the given ones.
func namedSpaces(given []string) (*spaces, error) {
	s := &spaces{named: []string{keys.DefaultNamespace}}
	for _, namespace := range given {
		if _, err := keys.NewSpace(namespace); err != nil {
			return nil, fmt.Errorf("namespace: %w", err)
		}
		if namespace != "" {
			s.named = append(s.named, strings.TrimSuffix(namespace, "/")+"/")
		}
	}
	return s, nil
}

const fenceSegment = "fence/"

// isFence reports whether a key is a guard's fence. In a named namespace its key
// says so. Elsewhere its value has to be a fence's, too, and it must not be a
// record behind another fence.
func (s *spaces) isFence(key string, value []byte) bool {
	for _, namespace := range s.named {
		if name, ok := strings.CutPrefix(key, namespace+fenceSegment); ok && keys.CheckName(name) == nil {
			return true
		}
	}
	if _, err := keys.ParseFence(string(value)); err != nil {
		return false
	}
	for at := range segments(key) {
		namespace, rest := key[:at], key[at:]
		name, ok := strings.CutPrefix(rest, fenceSegment)
		if ok && keys.CheckName(name) == nil && keys.CheckName(strings.TrimSuffix(namespace, "/")) == nil {
			s.find(namespace)
			return true
		}
	}
	return false
}

// segments yields where a key's segments begin, but for the first one: no
// namespace is empty.
func segments(key string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range len(key) {
			if key[i] == '/' && !yield(i+1) {
				return
			}
		}
	}
}

func (s *spaces) find(namespace string) {
	if !slices.Contains(s.found, namespace) {
		s.found = append(s.found, namespace)
	}
}

// lockOf returns the lock or the semaphore in whose queue a key lies.
func (s *spaces) lockOf(key string) (name string, ok bool) {
	for _, namespace := range slices.Concat(s.named, s.found) {
		rest, in := strings.CutPrefix(key, namespace)
		kind, queue, _ := strings.Cut(rest, "/")
		if !in || kind != "lock" && kind != "semaphore" {
			continue
		}
		if name, _, ok := strings.Cut(queue, "/@/"); ok {
			return namespace + kind + "/" + name, true
		}
	}
	return "", false
}
