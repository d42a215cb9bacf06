package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// events is how many watch events the members have sent to clients so far, from
// etcd's own metrics.
func (m *members) events(ctx context.Context) (float64, error) {
	total := 0.0
	for _, endpoint := range m.endpoints {
		n, err := metric(ctx, "http://"+endpoint+"/metrics", "etcd_debugging_mvcc_events_total")
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// metric reads one metric without labels.
func metric(ctx context.Context, url, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(rest, 64)
		}
	}
	return 0, fmt.Errorf("%s has no metric %s", url, name)
}
