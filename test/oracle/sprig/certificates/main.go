// The oracle for the certificates of src/golang/gotemplate/sprig: Go's crypto/x509 and crypto/tls read them.
//
// Reads one JSON request a line from stdin and writes one JSON answer a line to stdout:
//
//	{"cert": "PEM", "key": "PEM", "issuer": "PEM"}
//	{"fields": {...}} or {"error": "x509: ..."}
//
// The certificate must belong to the key and be signed by the issuer, which must be an authority unless it is the
// certificate itself.
package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"time"
)

type request struct{ Cert, Key, Issuer string }

type extension struct {
	ID       string
	Critical bool
	// What is in it, unless it depends on a key.
	Value string
}

type fields struct {
	Version            int
	SerialIsPositive   bool
	SerialBits         int
	SignatureAlgorithm string
	PublicKeyAlgorithm string
	Issuer, Subject    string
	RawIssuer          string
	RawSubject         string
	NotBefore          time.Time
	NotAfter           time.Time
	IsCA               bool
	MaxPathLen         int
	KeyUsage           x509.KeyUsage
	ExtKeyUsage        []x509.ExtKeyUsage
	DNSNames           []string
	IPAddresses        []string
	Extensions         []extension
	KeyIDIsOfKey       bool
	AuthorityIsIssuer  bool
	KeyType            string
}

func certificate(text string) (*x509.Certificate, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, fmt.Errorf("no PEM: %q", text)
	}
	return x509.ParseCertificate(block.Bytes)
}

func verify(c, issuer *x509.Certificate) error {
	if bytes.Equal(c.Raw, issuer.Raw) {
		return c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature)
	}
	roots := x509.NewCertPool()
	roots.AddCert(issuer)
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		options := x509.VerifyOptions{Roots: roots, CurrentTime: c.NotBefore, KeyUsages: []x509.ExtKeyUsage{usage}}
		if _, err := c.Verify(options); err != nil {
			return err
		}
	}
	return nil
}

func extensions(c *x509.Certificate) []extension {
	var all []extension
	for _, e := range c.Extensions {
		value := hex.EncodeToString(e.Value)
		if id := e.Id.String(); id == "2.5.29.14" || id == "2.5.29.35" {
			value = fmt.Sprint(len(e.Value))
		}
		all = append(all, extension{e.Id.String(), e.Critical, value})
	}
	return all
}

func keyIDIsOfKey(c *x509.Certificate) bool {
	var info struct {
		Algorithm asn1.RawValue
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(c.RawSubjectPublicKeyInfo, &info); err != nil {
		return false
	}
	sum := sha256.Sum256(info.Key.Bytes)
	return bytes.Equal(c.SubjectKeyId, sum[:20])
}

func describe(r request) (*fields, error) {
	c, err := certificate(r.Cert)
	if err != nil {
		return nil, err
	}
	issuer, err := certificate(r.Issuer)
	if err != nil {
		return nil, err
	}
	if _, err := tls.X509KeyPair([]byte(r.Cert), []byte(r.Key)); err != nil {
		return nil, err
	}
	if err := verify(c, issuer); err != nil {
		return nil, err
	}
	addresses := []string{}
	for _, address := range c.IPAddresses {
		addresses = append(addresses, fmt.Sprintf("%s %d", address, len(address)))
	}
	key, _ := pem.Decode([]byte(r.Key))
	return &fields{
		c.Version, c.SerialNumber.Sign() > 0, (c.SerialNumber.BitLen() + 127) / 128,
		c.SignatureAlgorithm.String(), c.PublicKeyAlgorithm.String(),
		c.Issuer.String(), c.Subject.String(), hex.EncodeToString(c.RawIssuer), hex.EncodeToString(c.RawSubject),
		c.NotBefore, c.NotAfter, c.IsCA, c.MaxPathLen, c.KeyUsage, c.ExtKeyUsage, c.DNSNames, addresses,
		extensions(c), keyIDIsOfKey(c), bytes.Equal(c.AuthorityKeyId, issuer.SubjectKeyId), key.Type,
	}, nil
}

func main() {
	decoder := json.NewDecoder(os.Stdin)
	encoder := json.NewEncoder(os.Stdout)
	for {
		var r request
		if decoder.Decode(&r) != nil {
			return
		}
		answer := map[string]any{}
		if described, err := describe(r); err != nil {
			answer["error"] = err.Error()
		} else {
			answer["fields"] = described
		}
		if encoder.Encode(answer) != nil {
			os.Exit(1)
		}
	}
}
