package cli

import (
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	etcd "go.etcd.io/etcd/api/v3/version"
)

// version is what the program is made of.
type version struct {
	Version  string `json:"version"`          // "(devel)" if built from a checkout without tags
	Commit   string `json:"commit,omitempty"` // of the checkout, if it was built in one
	Modified bool   `json:"modified"`         // the checkout had changes
	Etcd     string `json:"etcd"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say what this program is made of",
		Args:  arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			return a.print(cfg.Output, thisVersion())
		},
	}
}

func thisVersion() version {
	v := version{Version: "unknown", Etcd: etcd.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (v version) table(w io.Writer) {
	row(w, "fencelock", v.Version)
	if v.Commit != "" {
		row(w, "commit", v.Commit)
	}
	row(w, "etcd", v.Etcd)
	row(w, "go", v.Go)
	row(w, "platform", v.Platform)
}
