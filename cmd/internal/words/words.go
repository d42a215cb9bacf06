// Package words puts numbers into sentences for people.
package words

import "strconv"

// Count is a number of things: "1 lock", "2 locks". What they are is a noun whose
// plural ends with an s.
func Count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.FormatInt(int64(n), 10) + " " + what + "s"
}
