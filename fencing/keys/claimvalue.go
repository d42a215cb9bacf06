package keys

import (
	"encoding/json"
	"time"
)

// Modes of a claim.
const (
	Exclusive  = "exclusive"
	SharedMode = "shared"
)

// ClaimValue is what a claim says about itself, in JSON. It is put once, with
// the claim, and never rewritten: a rewrite would change the claim's revision,
// and with it the order of tokens.
type ClaimValue struct {
	Owner  string            `json:"owner,omitempty"`  // who claims, "host:pid" unless set
	Mode   string            `json:"mode"`             // Exclusive or SharedMode
	Since  time.Time         `json:"since,omitzero"`   // when it was put, by its owner's clock
	Labels map[string]string `json:"labels,omitempty"` // the owner's own words
	Value  []byte            `json:"value,omitempty"`  // what a candidate announces in an election
}

// Encode returns the JSON that lies under the claim's key.
func (v ClaimValue) Encode() (string, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

// DecodeClaim reads a claim's value. A claim that says nothing readable was put
// by a foreign client, etcd's own lock recipe for one, and is exclusive.
func DecodeClaim(value []byte) ClaimValue {
	var v ClaimValue
	if json.Unmarshal(value, &v) != nil {
		return ClaimValue{Mode: Exclusive}
	}
	if v.Mode != SharedMode {
		v.Mode = Exclusive
	}
	return v
}
