package redisfence

import "fmt"

// words is the script's answer.
type words []any

func list(answer any) (words, error) {
	all, ok := answer.([]any)
	if !ok || len(all) == 0 {
		return nil, fmt.Errorf("redis answers %T, want the list of this package's script", answer)
	}
	return all, nil
}

// at returns a word, "" where there is none.
func (w words) at(i int) string {
	if i >= len(w) {
		return ""
	}
	word, _ := text(w[i])
	return word
}

// rest returns the result behind the verdict; Redis leaves out a nil at the end.
func (w words) rest(i int) any {
	if i >= len(w) {
		return nil
	}
	return w[i]
}

// text reads what clients make of a Redis string.
func text(value any) (string, error) {
	switch value := value.(type) {
	case string:
		return value, nil
	case []byte:
		return string(value), nil
	}
	return "", fmt.Errorf("redis answers %T, want text", value)
}
