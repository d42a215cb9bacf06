package config

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/fencelock/fencelock/cluster"
)

// floorNow is the word for a floor above all tokens issued so far.
const floorNow = "now"

// tokenFloor reads a number, or now.
func tokenFloor(to *int64) pflag.Value {
	return field[int64]{to, "N|" + floorNow, parseFloor, showFloor}
}

func parseFloor(s string) (int64, error) {
	if s == floorNow {
		return cluster.FloorNow, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n > cluster.MaxFloor {
		return 0, fmt.Errorf("want a number from 1 to %d, or %s", cluster.MaxFloor, floorNow)
	}
	return n, nil
}

func showFloor(n int64) string {
	switch n {
	case 0:
		return ""
	case cluster.FloorNow:
		return floorNow
	}
	return strconv.FormatInt(n, 10)
}
