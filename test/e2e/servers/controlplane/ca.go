package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	security "istio.io/api/security/v1alpha1"
)

// The longest lifetime of istiod's certificates, and the lifetime for a request of 0 seconds.
const (
	longest  = 2160 * time.Hour
	ordinary = 24 * time.Hour
)

type caService struct {
	security.UnimplementedIstioCertificateServiceServer
	plane *plane
}

// CreateCertificate signs for the identity of the token and ignores names in the request, like istiod.
func (c *caService) CreateCertificate(ctx context.Context, request *security.IstioCertificateRequest) (*security.IstioCertificateResponse, error) {
	call := certificateCall{Token: hashed(bearer(ctx)), Seconds: request.ValidityDuration, Headers: headersOf(ctx), URIs: []string{}}
	chain, err := c.answer(ctx, request, &call)
	call.Code = status.Code(err).String()
	c.plane.seen.change(func() { c.plane.seen.CA = append(c.plane.seen.CA, call) })
	if err != nil {
		return nil, err
	}
	return &security.IstioCertificateResponse{CertChain: chain}, nil
}

func (c *caService) answer(ctx context.Context, request *security.IstioCertificateRequest, call *certificateCall) ([]string, error) {
	if err := c.plane.behaviour.fail(ctx, func(b *behaviour) *fault { return &b.CA }); err != nil {
		return nil, err
	}
	call.Identity = c.plane.identityOfToken(ctx)
	if call.Identity == "" {
		return nil, status.Error(codes.Unauthenticated, "request authenticate failure")
	}
	lifetime, err := c.lifetime(request.ValidityDuration)
	if err != nil {
		return nil, err
	}
	csr, err := readRequest(request.Csr)
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "CSR: %v", err)
	}
	call.Key = keyName(csr.PublicKey)
	for _, uri := range csr.URIs {
		call.URIs = append(call.URIs, uri.String())
	}
	return c.plane.authority.issue(csr.PublicKey, call.Identity, lifetime)
}

func (c *caService) lifetime(asked int64) (time.Duration, error) {
	if told := c.plane.behaviour.get().LeafSeconds; told != 0 {
		return time.Duration(told) * time.Second, nil
	}
	lifetime := time.Duration(asked) * time.Second
	if lifetime > longest || asked < 0 {
		return 0, status.Errorf(codes.InvalidArgument, "requested TTL %v is greater than the max allowed TTL %v", lifetime, longest)
	}
	if asked == 0 {
		return ordinary, nil
	}
	return lifetime, nil
}

func readRequest(text string) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, fmt.Errorf("no PEM block of a certificate request")
	}
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	return csr, csr.CheckSignature()
}

func keyName(key any) string {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		return "EC " + key.Curve.Params().Name
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d", key.Size()*8)
	}
	return fmt.Sprintf("%T", key)
}
