package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fencelock/fencelock/client"
)

// Config of a demo.
type Config struct {
	// Worker is the command line of a process that calls [Work].
	Worker []string

	// Text gets the timeline, as it happens; nil: nobody.
	Text io.Writer
}

// Run plays the four runs, which takes some 15 s. An error means that the demo
// could not be played to its end; whether the runs ended as they must is for
// [Report.Check]. It leaves nothing behind, also when ctx ends it.
func Run(ctx context.Context, cfg Config) (report Report, err error) {
	if err := supported(); err != nil {
		return Report{}, err
	}
	dir, err := os.MkdirTemp("", "fencelock-demo-")
	if err != nil {
		return Report{}, fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() {
		if removing := os.RemoveAll(dir); removing != nil {
			err = errors.Join(err, fmt.Errorf("remove the demo's folder: %w", removing))
		}
	}()
	d := demo{config: cfg, timeline: newTimeline(cfg.Text), dir: dir}
	report, err = d.onCluster(ctx)
	return report, errors.Join(err, d.timeline.err)
}

type demo struct {
	config   Config
	timeline *timeline
	dir      string
	client   *client.Client
}

// onCluster starts the members, plays, and stops them.
func (d *demo) onCluster(ctx context.Context) (report Report, err error) {
	d.timeline.introduction()
	d.timeline.event(aside, "cluster", 0, "%d members start in this process", memberCount)
	d.timeline.event(aside, "cluster", 0, "with their data in %s", d.dir)
	var all members
	err = within(ctx, 2*stepLimit, func(ctx context.Context) (err error) {
		all, err = startMembers(ctx, d.dir)
		return err
	})
	if err != nil {
		return Report{}, fmt.Errorf("start a cluster: %w", err)
	}
	defer func() { err = errors.Join(err, all.close()) }()
	endpoints := all.endpoints()
	d.timeline.event(aside, "cluster", 0, "ready at %s", strings.Join(endpoints, ", "))
	if d.client, err = client.New(client.Config{Endpoints: endpoints, Owner: "demo", DialTimeout: stepLimit}); err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, d.client.Close()) }()
	report = Report{Members: len(all)}
	if report.Cases, err = d.playAll(ctx); err != nil {
		return report, err
	}
	d.timeline.summary(report.Cases)
	if report.Check() == nil {
		d.timeline.moral()
	}
	return report, nil
}

func (d *demo) playAll(ctx context.Context) ([]Result, error) {
	var results []Result
	for i, s := range scenes() {
		dir := filepath.Join(d.dir, "run"+strconv.Itoa(i+1))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make a folder for a run: %w", err)
		}
		d.timeline.heading(i+1, s)
		d.timeline.take()
		r := run{scene: s, timeline: d.timeline, client: d.client, worker: d.config.Worker, dir: dir}
		result, err := r.play(ctx)
		if err != nil {
			return nil, err
		}
		result.moments = d.timeline.take()
		results = append(results, result)
	}
	return results, nil
}
