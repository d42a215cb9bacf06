package config

import "errors"

// Setting is one setting as it stands.
type Setting struct {
	Key      string // as in a file
	Flag     string // without dashes; empty: there is none
	Variable string // in the environment
	Value    string // as a flag would have it; empty: it follows from others, or is not set
	Secret   bool   // Value is not for eyes
	Origin   Origin
}

// Settings lists every setting with its value and where that came from.
func (c Config) Settings() []Setting {
	var list []Setting
	for _, s := range settings(&c) {
		list = append(list, Setting{s.key, s.flag, s.variable(), s.value.String(), s.secret, c.origins[s.key]})
	}
	return list
}

// Check refuses settings that do not go together, and files for a client's TLS that
// cannot be used. It asks nobody: which of its peers a member is shows when it starts.
func (c Config) Check() error {
	_, err := c.Client.Config()
	return errors.Join(err, c.Server.check(), c.Server.checkPeers())
}

func (s Server) checkPeers() error {
	if len(s.Peers) == 0 {
		return nil
	}
	_, err := s.PeerHosts()
	return err
}
