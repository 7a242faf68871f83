// The oracle for the certificate requests of src/golang/x509: Go's crypto/x509 reads them.
//
// Reads one JSON request a line from stdin and writes one JSON answer a line to stdout:
//
//	{"csr": "PEM", "key": "PEM"}
//	{"fields": {...}} or {"error": "x509: ..."}
//
// The request must be signed by the given key.
package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
)

type request struct{ CSR, Key string }

type extension struct {
	ID       string
	Critical bool
	Value    string
}

type fields struct {
	Version            int
	Subject            string
	SignatureAlgorithm string
	PublicKeyAlgorithm string
	Size               int
	URIs               []string
	OtherNames         int
	Extensions         []extension
}

func parseKey(block *pem.Block) (crypto.Signer, error) {
	var key any
	var err error
	switch block.Type {
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, err
	}
	return key.(crypto.Signer), nil
}

func size(key any) int {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		return k.Curve.Params().BitSize
	case *rsa.PublicKey:
		return k.N.BitLen()
	}
	return 0
}

func describe(r request) (*fields, error) {
	csrBlock, rest := pem.Decode([]byte(r.CSR))
	keyBlock, _ := pem.Decode([]byte(r.Key))
	if csrBlock == nil || keyBlock == nil || csrBlock.Type != "CERTIFICATE REQUEST" || len(rest) > 0 {
		return nil, fmt.Errorf("no PEM: %q", r.CSR)
	}
	csr, err := x509.ParseCertificateRequest(csrBlock.Bytes)
	if err != nil {
		return nil, err
	}
	if err := csr.CheckSignature(); err != nil {
		return nil, err
	}
	key, err := parseKey(keyBlock)
	if err != nil {
		return nil, err
	}
	if !key.Public().(interface{ Equal(crypto.PublicKey) bool }).Equal(csr.PublicKey) {
		return nil, fmt.Errorf("the request is of another key")
	}
	f := &fields{
		Version: csr.Version, Subject: csr.Subject.String(),
		SignatureAlgorithm: csr.SignatureAlgorithm.String(), PublicKeyAlgorithm: csr.PublicKeyAlgorithm.String(),
		Size: size(csr.PublicKey), OtherNames: len(csr.DNSNames) + len(csr.EmailAddresses) + len(csr.IPAddresses),
	}
	for _, uri := range csr.URIs {
		f.URIs = append(f.URIs, uri.String())
	}
	for _, e := range csr.Extensions {
		f.Extensions = append(f.Extensions, extension{e.Id.String(), e.Critical, hex.EncodeToString(e.Value)})
	}
	return f, nil
}

func main() {
	decoder := json.NewDecoder(os.Stdin)
	encoder := json.NewEncoder(os.Stdout)
	for {
		var r request
		if decoder.Decode(&r) != nil {
			return
		}
		var answer any
		if f, err := describe(r); err != nil {
			answer = map[string]string{"error": err.Error()}
		} else {
			answer = map[string]any{"fields": f}
		}
		if err := encoder.Encode(answer); err != nil {
			panic(err)
		}
	}
}
