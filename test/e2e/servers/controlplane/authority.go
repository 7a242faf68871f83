package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// The names in istiod's own certificate: no address, no short name.
var servingNames = []string{
	"istiod.istio-system.svc",
	"istiod-remote.istio-system.svc",
	"istio-pilot.istio-system.svc",
}

// istiod sets notBefore of a workload's certificate two minutes back. Its own certificates are older than a test.
const (
	backdating = 2 * time.Minute
	age        = 24 * time.Hour
)

// offset is the time in nanoseconds by which the clock of this program is ahead of that of the machine.
var offset atomic.Int64

func now() time.Time {
	return time.Now().Add(time.Duration(offset.Load()))
}

// signer is a root and its signing intermediate.
type signer struct {
	root         *x509.Certificate
	intermediate *x509.Certificate
	key          *ecdsa.PrivateKey
}

// authority signs with one root and trusts one or two.
type authority struct {
	mu      sync.Mutex
	signing *signer
	next    *signer
	trusted []*x509.Certificate
	serving *tls.Certificate
}

func newAuthority() (*authority, error) {
	first, err := newSigner("first root")
	if err != nil {
		return nil, err
	}
	made := &authority{signing: first, trusted: []*x509.Certificate{first.root}}
	return made, made.serve(servingNames, false)
}

func newSigner(name string) (*signer, error) {
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	rootTemplate := authorityTemplate(name)
	root, err := sign(rootTemplate, rootTemplate, &rootKey.PublicKey, rootKey)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	intermediate, err := sign(authorityTemplate("intermediate of "+name), root, &key.PublicKey, rootKey)
	return &signer{root: root, intermediate: intermediate, key: key}, err
}

func authorityTemplate(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{Organization: []string{"cluster.local"}, CommonName: name},
		NotBefore:             now().Add(-age),
		NotAfter:              now().Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
}

func serial() *big.Int {
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err)
	}
	return number
}

func sign(template, parent *x509.Certificate, public any, key *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// issue returns a chain of PEM texts: the leaf, the intermediate, and all trusted roots as the last one.
func (a *authority) issue(public any, identity string, lifetime time.Duration) ([]string, error) {
	uri, err := url.Parse(identity)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	leaf, err := sign(leafTemplate(&x509.Certificate{URIs: []*url.URL{uri}}, backdating, lifetime), a.signing.intermediate, public, a.signing.key)
	if err != nil {
		return nil, err
	}
	return []string{pemOf(leaf), pemOf(a.signing.intermediate), pemOf(a.trusted...)}, nil
}

func leafTemplate(template *x509.Certificate, backdate, lifetime time.Duration) *x509.Certificate {
	template.SerialNumber = serial()
	template.NotBefore = now().Add(-backdate)
	template.NotAfter = now().Add(lifetime)
	template.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.BasicConstraintsValid = true
	return template
}

// serve creates the certificate of this server. A foreign one has an untrusted root.
func (a *authority) serve(names []string, foreign bool) error {
	by := a.signing
	if foreign {
		stranger, err := newSigner("stranger")
		if err != nil {
			return err
		}
		by = stranger
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	leaf, err := sign(leafTemplate(&x509.Certificate{DNSNames: names}, age, 24*time.Hour), by.intermediate, &key.PublicKey, by.key)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serving = &tls.Certificate{Certificate: [][]byte{leaf.Raw, by.intermediate.Raw}, PrivateKey: key}
	return nil
}

// turn does one step of a root rotation.
func (a *authority) turn(step string) error {
	switch step {
	case "trust-both":
		next, err := newSigner("next root")
		if err != nil {
			return err
		}
		a.mu.Lock()
		a.next, a.trusted = next, append(a.trusted, next.root)
		a.mu.Unlock()
		return nil
	case "sign-by-new":
		a.mu.Lock()
		a.signing = a.next
		a.mu.Unlock()
		return a.serve(servingNames, false)
	case "drop-old":
		a.mu.Lock()
		a.trusted = []*x509.Certificate{a.signing.root}
		a.mu.Unlock()
		return nil
	}
	return fmt.Errorf("no such step: %q", step)
}

// tlsConfig returns the configuration of one connection. A client certificate is optional, and verified if given.
func (a *authority) tlsConfig(*tls.ClientHelloInfo) (*tls.Config, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	pool := x509.NewCertPool()
	for _, root := range a.trusted {
		pool.AddCert(root)
	}
	return &tls.Config{
		Time:         now,
		Certificates: []tls.Certificate{*a.serving},
		ClientAuth:   tls.VerifyClientCertIfGiven,
		ClientCAs:    pool,
		MinVersion:   tls.VersionTLS13,
		NextProtos:   []string{"h2"},
	}, nil
}

func (a *authority) roots() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return pemOf(a.trusted...)
}

func pemOf(certificates ...*x509.Certificate) string {
	var text bytes.Buffer
	for _, each := range certificates {
		pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: each.Raw})
	}
	return text.String()
}
