package config

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// unit of a size.
type unit struct {
	name  string
	bytes int64
}

// units are in the order in which they are shown: the largest that fits.
func units() []unit {
	return []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}
}

func size(to *int64) pflag.Value { return field[int64]{to, kindSize, parseSize, showSize} }

func parseSize(s string) (int64, error) {
	number, factor := s, int64(1)
	for _, u := range units() {
		if before, found := strings.CutSuffix(s, u.name); found {
			number, factor = strings.TrimSpace(before), u.bytes
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/factor {
		return 0, errors.New("want a number of bytes greater than zero, or one with KiB, MiB or GiB")
	}
	return n * factor, nil
}

func showSize(n int64) string {
	for _, u := range units() {
		if n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
