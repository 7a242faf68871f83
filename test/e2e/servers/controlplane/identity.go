package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// bearer returns the token of a call. Like istiod it accepts one spelling of the scheme.
func bearer(ctx context.Context) string {
	headers, _ := metadata.FromIncomingContext(ctx)
	for _, value := range headers.Get("authorization") {
		if token, is := strings.CutPrefix(value, "Bearer "); is {
			return token
		}
	}
	return ""
}

// identityOfToken returns the SPIFFE identity of an accepted token, "" for other tokens.
func (p *plane) identityOfToken(ctx context.Context) string {
	token := bearer(ctx)
	headers, _ := metadata.FromIncomingContext(ctx)
	for _, cluster := range headers.Get("clusterid") {
		if cluster != "Kubernetes" {
			return ""
		}
	}
	if token == "" || p.behaviour.get().RefuseTokens {
		return ""
	}
	text, err := os.ReadFile(p.tokens)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == token {
			return fields[1]
		}
	}
	return ""
}

// identityOfCertificate returns the SPIFFE identity of the client's certificate, "" without one.
func identityOfCertificate(ctx context.Context) string {
	from, _ := peer.FromContext(ctx)
	info, is := from.AuthInfo.(credentials.TLSInfo)
	if !is || len(info.State.VerifiedChains) == 0 {
		return ""
	}
	for _, uri := range info.State.PeerCertificates[0].URIs {
		return uri.String()
	}
	return ""
}

func isPlain(ctx context.Context) bool {
	from, _ := peer.FromContext(ctx)
	_, is := from.AuthInfo.(credentials.TLSInfo)
	return !is
}

// hashed returns the hash of a token, for reports.
func hashed(token string) string {
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:6])
}

// headersOf returns the headers of a call without its token.
func headersOf(ctx context.Context) map[string]string {
	all := map[string]string{}
	headers, _ := metadata.FromIncomingContext(ctx)
	for name, values := range headers {
		if name != "authorization" {
			all[name] = strings.Join(values, ",")
		}
	}
	return all
}
