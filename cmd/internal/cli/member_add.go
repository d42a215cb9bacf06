package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fencelock/fencelock/cluster/members"
	"github.com/fencelock/fencelock/config"
)

// added is a learner that waits for its process.
type added struct {
	ID      string   `json:"id"`
	Peers   []string `json:"peer_urls"`
	Command string   `json:"command"` // to run on the new host
}

func newMemberAddCommand(a *app) *cobra.Command {
	var o changeOptions
	cmd := &cobra.Command{
		Use:   "add PEER-ADDRESS",
		Short: "Add a learner by hand, and print the command for its host",
		Long: `Add a learner by hand, and print the command to run on its host. That command alone
does it as well: "fencelock server --join" adds the member first.`,
		Args: arguments(1, 1, "PEER-ADDRESS"),
		RunE: interruptible(func(cmd *cobra.Command, args []string) error {
			return a.withMembers(cmd, o.wait, func(ctx context.Context, r *roster) error {
				list, err := r.change.List(ctx)
				if err != nil {
					return err
				}
				peers, err := peerURLs(list, args[0])
				if err != nil {
					return &usageError{err: err}
				}
				return r.add(ctx, list, peers, members.Member{})
			})
		}),
	}
	o.addFlags(cmd, false)
	return cmd
}

// peerURLs makes URLs of addresses: with the scheme that the others have, if they
// have none.
func peerURLs(list members.List, addresses string) ([]string, error) {
	scheme := "http"
	if len(list.Members) > 0 && strings.HasPrefix(list.Members[0].Peers[0], "https:") {
		scheme = "https"
	}
	var urls []string
	for address := range strings.SplitSeq(addresses, ",") {
		if !strings.Contains(address, "://") {
			address = scheme + "://" + address
		}
		u, err := config.ParseAddress(address)
		if err != nil {
			return nil, fmt.Errorf("peer address %w", err)
		}
		urls = append(urls, u.Scheme+"://"+u.Host)
	}
	return urls, nil
}

// add adds a learner with these peer URLs, or finds it, and prints what to do next.
// before is the member whose place it takes, if any.
func (r *roster) add(ctx context.Context, list members.List, peers []string, before members.Member) error {
	if there, ok := list.At(peers); ok && there.Name != "" {
		return fmt.Errorf("%s is the address of member %q already; to replace that one, run \"fencelock member replace %s\"", strings.Join(peers, ","), there.Name, there.Name)
	}
	m, list, err := r.change.AddLearner(ctx, peers)
	if err != nil {
		return err
	}
	command := joinCommand(r.survey(ctx, list), m, before)
	return r.app.print(r.cfg.Output, added{ID: m.Hex(), Peers: m.Peers, Command: command})
}

// joinCommand is what makes a member of a learner that was added.
func joinCommand(states []members.State, m, before members.Member) string {
	var via []string
	for _, s := range states {
		if s.Reachable && !s.Learner {
			via = append(via, s.Clients...)
		}
	}
	words := []string{"fencelock", "server", "--join", strings.Join(via, ","), "--advertise-peer", strings.Join(m.Peers, ",")}
	if before.Name != "" && !strings.HasSuffix(m.Peers[0], "://"+before.Name) {
		words = append(words, "--name", visible(before.Name))
	}
	if at := listenable(before.Clients); at != "" {
		words = append(words, "--listen-client", at)
	}
	return strings.Join(words, " ")
}

// listenable returns the addresses of URLs that name a host by its IP address,
// empty if one does not: where such a member listened nobody else knows.
func listenable(urls []string) string {
	var list []string
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			return ""
		}
		if _, err := netip.ParseAddr(u.Hostname()); err != nil {
			return ""
		}
		list = append(list, net.JoinHostPort(u.Hostname(), u.Port()))
	}
	return strings.Join(list, ",")
}

func (a added) table(w io.Writer) {
	row(w, "added learner "+a.ID+" at "+strings.Join(a.Peers, ",")+"; on its host, with an empty --data-dir and its TLS flags if it has any, run:")
	row(w, a.Command)
}
