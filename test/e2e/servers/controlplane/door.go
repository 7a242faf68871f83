package main

import (
	"crypto/tls"
	"net"
	"sync"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	security "istio.io/api/security/v1alpha1"
)

// door is a listener that can be closed and opened again.
type door struct {
	address string
	open    func() *grpc.Server
	mu      sync.Mutex
	server  *grpc.Server
}

func (d *door) start() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil || d.address == "" {
		return nil
	}
	listener, err := net.Listen("tcp", d.address)
	if err != nil {
		return err
	}
	d.server = d.open()
	go d.server.Serve(listener)
	return nil
}

// stop closes the listener and all connections.
func (d *door) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server == nil {
		return
	}
	d.server.Stop()
	d.server = nil
}

func (p *plane) secureServer() *grpc.Server {
	config := &tls.Config{GetConfigForClient: p.authority.tlsConfig, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(config)))
	security.RegisterIstioCertificateServiceServer(server, &caService{plane: p})
	discovery.RegisterAggregatedDiscoveryServiceServer(server, &discoveryService{plane: p})
	return server
}

// plainServer has no certificate service, like istiod's.
func (p *plane) plainServer() *grpc.Server {
	server := grpc.NewServer()
	discovery.RegisterAggregatedDiscoveryServiceServer(server, &discoveryService{plane: p})
	return server
}
