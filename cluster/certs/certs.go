// Package certs makes the certificates of a cluster in one folder: a CA, one
// certificate for each member, one for each client, and the key that members
// sign logins with.
//
//	ca.pem      ca.key      the CA; made once, and never replaced
//	HOST.pem    HOST.key    a member's, for servers and clients, by its address
//	NAME.pem    NAME.key    a client's, whose common name is its user's name
//	jwt.pub     jwt.key     the key pair for logins
//
// Keys have mode 0600, and ca.key is needed on no member: keep it elsewhere.
// Nothing that exists is overwritten unless [Config] says so. Files are written
// beside their place and renamed, so that a member that reads them anew meets
// old or new ones, and no half.
package certs

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Config says what there is to be.
type Config struct {
	Dir     string   // made with mode 0700 if missing
	Hosts   []string // of the members: names or IP addresses, without ports
	Also    []string // further names and addresses at which members are reached
	Clients []string // common names
	JWT     bool     // a key pair for logins as well
	Days    int      // that certificates are valid for; 1 to 3650; default 365
	Renew   bool     // replace certificates that this CA has signed
	Force   bool     // replace any file but the CA's
}

// Made is one certificate or key pair in the folder.
type Made struct {
	Kind    string    // "ca", "member", "client" or "jwt"
	Name    string    // the member's host, the client's common name
	Cert    string    // path of the certificate; of the public key for "jwt"
	Key     string    // path of the private key
	Expires time.Time // zero for "jwt"
	Kept    bool      // it was there before
}

// Create makes what is missing in the folder, and returns all of it.
func Create(cfg Config) ([]Made, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	cfg.Days = cmp.Or(cfg.Days, DefaultDays)
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	authority, ca, err := cfg.authority()
	if err != nil {
		return nil, err
	}
	all := []Made{ca}
	for _, template := range cfg.templates() {
		made, err := cfg.issue(authority, template)
		if err != nil {
			return all, err
		}
		all = append(all, made)
	}
	if cfg.JWT {
		made, err := cfg.jwt()
		if err != nil {
			return all, err
		}
		all = append(all, made)
	}
	return all, nil
}

// Check says what of the configuration cannot be. It touches no file.
func (cfg Config) Check() error {
	cfg.Days = cmp.Or(cfg.Days, DefaultDays)
	switch {
	case cfg.Dir == "":
		return errors.New("folder for certificates: its name is empty")
	case cfg.Days < 1 || cfg.Days > MaxDays:
		return fmt.Errorf("days %d: want 1 to %d", cfg.Days, MaxDays)
	case cfg.Renew && cfg.Force:
		return errors.New("renew and force: give one of both; force replaces what renew would, and more")
	}
	taken := map[string]string{"ca": "the CA", "jwt": "the key for logins"}
	for _, host := range cfg.Hosts {
		if err := claim(taken, fileName(host), "member "+host); err != nil {
			return err
		}
	}
	for _, host := range cfg.Also {
		if strings.ContainsAny(host, "/: ") && net.ParseIP(host) == nil {
			return fmt.Errorf("name %q: want a host name or an IP address, without a port", host)
		}
	}
	for _, name := range cfg.Clients {
		if err := checkClient(name); err != nil {
			return err
		}
		if err := claim(taken, name, "client "+name); err != nil {
			return err
		}
	}
	return nil
}

// claim sees to it that no two certificates get the same files.
func claim(taken map[string]string, file, who string) error {
	key := strings.ToLower(file) // some file systems take no notice of case
	if other, ok := taken[key]; ok {
		return fmt.Errorf("%s and %s would share the file %s.pem; name them differently", other, who, file)
	}
	taken[key] = who
	return nil
}

// maxName is the longest common name that X.509 allows, in characters.
const maxName = 64

func checkClient(name string) error {
	for _, r := range name {
		if r <= ' ' || r > '~' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return fmt.Errorf("client %q: want letters, digits and marks that file names can have", name)
		}
	}
	if name == "" || len(name) > maxName || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") {
		return fmt.Errorf("client %q: want a name of 1 to %d characters that does not begin with '.' or '-'", name, maxName)
	}
	return nil
}

// fileName is the name of a member's files: colons are not for file names.
func fileName(host string) string { return strings.ReplaceAll(host, ":", "-") }

// template is a certificate that is to be issued.
type template struct {
	kind, name, file string
	cert             x509.Certificate
}

func (cfg Config) templates() []template {
	var list []template
	for _, host := range cfg.Hosts {
		list = append(list, template{"member", host, fileName(host), memberTemplate(append([]string{host}, cfg.Also...))})
	}
	for _, name := range cfg.Clients {
		list = append(list, template{"client", name, name, clientTemplate(name)})
	}
	return list
}

func (cfg Config) path(name string) string { return filepath.Join(cfg.Dir, name) }

// memberTemplate is good for the member's addresses and, for commands on the same
// host, for loopback. It passes for a client, too, since members dial each other.
func memberTemplate(hosts []string) x509.Certificate {
	cert := clientTemplate("fencelock member")
	cert.ExtKeyUsage = append(cert.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	for _, host := range append([]string{"localhost", "127.0.0.1", "::1"}, hosts...) {
		if ip := net.ParseIP(host); ip != nil {
			cert.IPAddresses = append(cert.IPAddresses, ip)
		} else {
			cert.DNSNames = append(cert.DNSNames, host)
		}
	}
	return cert
}
