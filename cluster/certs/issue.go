package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

const (
	// DefaultDays is how long certificates are valid unless it is said.
	DefaultDays = 365

	// MaxDays is how long a CA is valid, and a certificate at most: ten years.
	MaxDays = 3650

	// clockSkew is how far the clocks of hosts may be apart when a new
	// certificate is used at once.
	clockSkew = time.Hour
)

// authority is the CA that signs everything in a folder.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func clientTemplate(name string) x509.Certificate {
	return x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

// authority reads the folder's CA, or makes it.
func (cfg Config) authority() (authority, Made, error) {
	made := Made{Kind: "ca", Cert: cfg.path("ca.pem"), Key: cfg.path("ca.key")}
	there, err := bothThere(made.Cert, made.Key)
	if err != nil {
		return authority{}, made, fmt.Errorf("CA: %w; put the missing one back, or choose another folder for a new CA", err)
	}
	var a authority
	if there {
		a, err = readAuthority(made.Cert, made.Key)
	} else {
		a, err = makeAuthority(made.Cert, made.Key)
	}
	if err != nil {
		return authority{}, made, err
	}
	made.Kept, made.Expires = there, a.cert.NotAfter
	return a, made, nil
}

func makeAuthority(certPath, keyPath string) (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, fmt.Errorf("make CA key: %w", err)
	}
	cert := x509.Certificate{
		Subject:               pkix.Name{CommonName: "fencelock CA"},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
	}
	a := authority{cert: &cert, key: key}
	if a.cert, err = a.sign(cert, key, MaxDays); err != nil {
		return authority{}, err
	}
	if err := writeKey(keyPath, key); err != nil {
		return authority{}, err
	}
	return a, writeFile(certPath, 0o644, "CERTIFICATE", a.cert.Raw)
}

func readAuthority(certPath, keyPath string) (authority, error) {
	cert, err := readCert(certPath)
	if err != nil {
		return authority{}, err
	}
	key, err := readKey(keyPath)
	switch {
	case err != nil:
		return authority{}, err
	case !cert.IsCA:
		return authority{}, fmt.Errorf("%s: not the certificate of a CA", certPath)
	case !key.PublicKey.Equal(cert.PublicKey):
		return authority{}, fmt.Errorf("%s does not belong to %s", keyPath, certPath)
	case time.Now().After(cert.NotAfter):
		return authority{}, fmt.Errorf("%s: the CA expired at %v; choose another folder for a new CA", certPath, cert.NotAfter)
	}
	return authority{cert, key}, nil
}

// sign fills in what all certificates have in common. None outlives its CA.
func (a authority) sign(cert x509.Certificate, key *ecdsa.PrivateKey, days int) (*x509.Certificate, error) {
	cert.Subject.Organization = []string{"fencelock"}
	cert.NotBefore = time.Now().Add(-clockSkew)
	cert.NotAfter = time.Now().AddDate(0, 0, days)
	if !cert.IsCA && cert.NotAfter.After(a.cert.NotAfter) {
		cert.NotAfter = a.cert.NotAfter
	}
	parent := a.cert
	if cert.IsCA {
		parent = &cert
	}
	der, err := x509.CreateCertificate(rand.Reader, &cert, parent, &key.PublicKey, a.key) // with a random serial number
	if err != nil {
		return nil, fmt.Errorf("sign certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

// issue makes one certificate with a new key, or keeps the one that is there.
func (cfg Config) issue(a authority, t template) (Made, error) {
	made := Made{Kind: t.kind, Name: t.name, Cert: cfg.path(t.file + ".pem"), Key: cfg.path(t.file + ".key")}
	if !cfg.Force {
		old, err := a.existing(made)
		if err != nil {
			return made, err
		}
		if old != nil && !cfg.Renew {
			made.Kept, made.Expires = true, old.NotAfter
			return made, nil
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return made, fmt.Errorf("make key: %w", err)
	}
	cert, err := a.sign(t.cert, key, cfg.Days)
	if err != nil {
		return made, err
	}
	made.Expires = cert.NotAfter
	if err := writeKey(made.Key, key); err != nil {
		return made, err
	}
	return made, writeFile(made.Cert, 0o644, "CERTIFICATE", cert.Raw)
}

// existing returns the certificate that is there already, nil if there is none.
// It must be of this CA: nobody else's is to be replaced.
func (a authority) existing(made Made) (*x509.Certificate, error) {
	there, err := bothThere(made.Cert, made.Key)
	if err != nil || !there {
		if err != nil {
			err = fmt.Errorf("%w; remove it, or pass --force to replace it", err)
		}
		return nil, err
	}
	cert, err := readCert(made.Cert)
	if err != nil {
		return nil, fmt.Errorf("%w; pass --force to replace it", err)
	}
	if err := cert.CheckSignatureFrom(a.cert); err != nil {
		return nil, fmt.Errorf("%s: this folder's CA did not sign it; pass --force to replace it", made.Cert)
	}
	return cert, nil
}

func (cfg Config) jwt() (Made, error) {
	made := Made{Kind: "jwt", Cert: cfg.path("jwt.pub"), Key: cfg.path("jwt.key")}
	if !cfg.Force {
		there, err := bothThere(made.Cert, made.Key)
		if err != nil || there {
			made.Kept = there
			return made, err
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return made, fmt.Errorf("make key: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return made, fmt.Errorf("encode key: %w", err)
	}
	if err := writeKey(made.Key, key); err != nil {
		return made, err
	}
	return made, writeFile(made.Cert, 0o644, "PUBLIC KEY", public)
}

// bothThere refuses one file without the other.
func bothThere(a, b string) (bool, error) {
	_, errA := os.Lstat(a)
	_, errB := os.Lstat(b)
	for _, err := range []error{errA, errB} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	switch {
	case errA == nil && errB != nil:
		return false, fmt.Errorf("%s exists, but %s does not", a, b)
	case errA != nil && errB == nil:
		return false, fmt.Errorf("%s exists, but %s does not", b, a)
	}
	return errA == nil, nil
}
