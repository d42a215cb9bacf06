package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/cluster/certs"
	"github.com/fencelock/fencelock/config"
)

func newCertCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cert",
		Short: "Make certificates for members and clients",
		Args:  noSuchCommand,
		RunE:  commandMissing,
	}
	cmd.AddCommand(newCertCreateCommand(a))
	return cmd
}

// certFile is one certificate or key pair, as it is printed.
type certFile struct {
	Kind    string    `json:"kind"` // "ca", "member", "client" or "jwt"
	Name    string    `json:"name"`
	Cert    string    `json:"cert"` // path; of the public key for "jwt"
	Key     string    `json:"key"`
	Expires time.Time `json:"expires,omitzero"`
	Kept    bool      `json:"kept"` // it was there before
}

// certFiles is what the folder holds, and the commands that use it.
type certFiles struct {
	Files   []certFile `json:"files"`
	Servers []string   `json:"servers"` // one command for each host
	Client  string     `json:"client,omitempty"`
}

func newCertCreateCommand(a *app) *cobra.Command {
	var made certs.Config
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a CA, and certificates that it signs",
		Long: `Make a CA, once, and certificates that it signs: one for each member in --peers, good
for its address there and for loopback, and one for each --client, whose name is
the name of its user. It prints the commands that use them.

What exists is kept. --renew replaces certificates of this CA before they expire:
members and commands take new files for new connections, without a restart.
ca.key is needed for this command alone; keep it off the members.`,
		Example: `  fencelock cert create --peers a.example:2380,b.example:2380,c.example:2380 --client root --client billing
  fencelock cert create --peers a.example:2380,b.example:2380,c.example:2380 --renew`,
		Args: arguments(0, 0, "no arguments"),
		RunE: interruptible(func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			if made.Hosts, err = cfg.Server.PeerHosts(); err != nil {
				return usagef(cmd, "%w", err)
			}
			if len(made.Hosts)+len(made.Clients) == 0 && !made.JWT {
				return usagef(cmd, "nothing to make; pass --peers, --client or --jwt")
			}
			if err := made.Check(); err != nil {
				return usagef(cmd, "%w", err)
			}
			files, err := certs.Create(made)
			if err != nil {
				return misuse(cmd, err)
			}
			return a.print(cfg.Output, describeCerts(files, cfg.Server.Peers))
		}),
	}
	config.AddFlags(cmd.Flags(), "server.peers")
	cmd.Flags().StringVar(&made.Dir, "dir", "fencelock-certs", "folder for the files")
	made.Days = certs.DefaultDays
	cmd.Flags().Var(&numberValue{to: &made.Days, least: 1, most: certs.MaxDays}, "days", "how long certificates are valid")
	cmd.Flags().StringSliceVar(&made.Clients, "client", nil, "name of a client's user; may be given more than once")
	cmd.Flags().StringSliceVar(&made.Also, "also", nil, "further host name or address at which members are reached")
	cmd.Flags().BoolVar(&made.JWT, "jwt", false, "make a key pair that members sign logins with")
	cmd.Flags().BoolVar(&made.Renew, "renew", false, "replace certificates that this CA has signed")
	cmd.Flags().BoolVar(&made.Force, "force", false, "replace all files but the CA's")
	return cmd
}

func describeCerts(files []certs.Made, peers []string) certFiles {
	out := certFiles{Files: []certFile{}, Servers: []string{}}
	ca, jwt := files[0].Cert, ""
	for _, f := range files {
		if f.Kind == "jwt" {
			jwt = " --auth-jwt-key " + shellWord(f.Key)
		}
	}
	for _, f := range files {
		out.Files = append(out.Files, certFile(f))
		switch {
		case f.Kind == "member":
			out.Servers = append(out.Servers, serverCommand(f, ca, peers)+jwt)
		case f.Kind == "client" && out.Client == "":
			out.Client = fmt.Sprintf("fencelock status --cacert %s --cert %s --key %s", shellWord(ca), shellWord(f.Cert), shellWord(f.Key))
		}
	}
	return out
}

// serverCommand asks both sides for certificates: the files are there.
func serverCommand(f certs.Made, ca string, peers []string) string {
	command := "fencelock server --peers " + shellWord(strings.Join(peers, ","))
	for _, side := range []string{"client", "peer"} {
		command += fmt.Sprintf(" --%s-cert %s --%s-key %s --%s-cacert %s --%s-cert-auth",
			side, shellWord(f.Cert), side, shellWord(f.Key), side, shellWord(ca), side)
	}
	return command
}

// shellWord quotes what a shell would take apart.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (c certFiles) table(w io.Writer) {
	row(w, "KIND", "NAME", "CERTIFICATE", "KEY", "EXPIRES", "")
	for _, f := range c.Files {
		expires, note := "-", "new"
		if !f.Expires.IsZero() {
			expires = f.Expires.UTC().Format(time.DateOnly)
		}
		if f.Kept {
			note = "kept"
		}
		row(w, f.Kind, visibleOr(f.Name, "-"), f.Cert, f.Key, expires, note)
	}
	for i, command := range c.Servers {
		if i == 0 {
			fmt.Fprint(w, "\nCopy ca.pem and a member's two files to its host, and start it there:\n\n")
		}
		fmt.Fprintf(w, "%s\n", command)
	}
	if c.Client != "" {
		fmt.Fprintf(w, "\nA client, with ca.pem and its own two files:\n\n%s\n", c.Client)
	}
}
