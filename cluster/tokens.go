package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Tokens says how members vouch for a user who has logged in. The zero Tokens is
// etcd's simple tokens: random ones, in the memory of all members.
//
// With a key, they are JWTs: signed, so that no member need remember them. All
// members must have the same key.
type Tokens struct {
	KeyFile       string        // PEM of an ECDSA, RSA or Ed25519 private key
	PublicKeyFile string        // optional: checked against KeyFile
	TTL           time.Duration // how long a login is good for; default 5 min; whole seconds
}

func (t Tokens) check() error {
	switch {
	case t == Tokens{}:
		return nil
	case t.KeyFile == "":
		return errors.New("tokens: a public key without a private one cannot answer a login; give this member the private key")
	case t.TTL < time.Second || t.TTL%time.Second != 0:
		return fmt.Errorf("tokens: TTL %v: want whole seconds, at least 1s", t.TTL)
	case strings.ContainsAny(t.KeyFile+t.PublicKeyFile, ",="):
		return fmt.Errorf("tokens: key %s: etcd takes no file name with ',' or '='; rename it", t.KeyFile+t.PublicKeyFile)
	}
	return nil
}

// setting writes t as etcd reads it. It reads the key, to learn how it signs.
func (t Tokens) setting() (string, error) {
	if t == (Tokens{}) {
		return "simple", nil
	}
	key, err := readKey(t.KeyFile, parsePrivate)
	if err != nil {
		return "", err
	}
	method, err := signMethod(key)
	if err != nil {
		return "", fmt.Errorf("tokens: key %s: %w", t.KeyFile, err)
	}
	setting := fmt.Sprintf("jwt,sign-method=%s,priv-key=%s,ttl=%v", method, t.KeyFile, t.TTL)
	if t.PublicKeyFile == "" {
		return setting, nil
	}
	public, err := readKey(t.PublicKeyFile, parsePublic)
	if err != nil {
		return "", err
	}
	if own, ok := key.(interface{ Equal(crypto.PublicKey) bool }); !ok || !own.Equal(public) {
		return "", fmt.Errorf("tokens: public key %s does not belong to key %s", t.PublicKeyFile, t.KeyFile)
	}
	return setting + ",pub-key=" + t.PublicKeyFile, nil
}

// readKey reads a key file, and has parse make a public key of what it holds.
func readKey(path string, parse func(der []byte) (crypto.PublicKey, error)) (crypto.PublicKey, error) {
	text, err := readPEM("key", path)
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("tokens: key %s: no PEM in it", path)
	}
	key, err := parse(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("tokens: key %s: a %s is not what is wanted: %w", path, block.Type, err)
	}
	return key, nil
}

// signMethod is the JWT algorithm that goes with a key.
func signMethod(key crypto.PublicKey) (string, error) {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		if method := map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[key.Curve.Params().BitSize]; method != "" {
			return method, nil
		}
	case *rsa.PublicKey:
		return "RS256", nil
	case ed25519.PublicKey:
		return "EdDSA", nil
	}
	return "", fmt.Errorf("%T: want ECDSA P-256, P-384 or P-521, RSA, or Ed25519", key)
}

func parsePublic(der []byte) (crypto.PublicKey, error) { return x509.ParsePKIXPublicKey(der) }
