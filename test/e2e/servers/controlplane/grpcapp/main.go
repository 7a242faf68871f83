// An application that speaks xDS itself, of gRPC's public modules: a server or a client of the health service.
// GRPC_XDS_BOOTSTRAP names its bootstrap. Both print JSON lines.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	xdscredentials "google.golang.org/grpc/credentials/xds"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/xds"
)

func main() {
	listen := flag.String("listen", "", "serve this address")
	target := flag.String("ask", "", "ask this target, such as xds:///NAME:PORT")
	wait := flag.Duration("wait", 30*time.Second, "how long to wait for the answer")
	flag.Parse()
	run := func() error { return ask(*target, *wait) }
	if *listen != "" {
		run = func() error { return serve(*listen) }
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func serve(address string) error {
	creds, err := xdscredentials.NewServerCredentials(xdscredentials.ServerOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		return err
	}
	mode := xds.ServingModeCallback(func(addr net.Addr, args xds.ServingModeChangeArgs) {
		show(map[string]any{"address": addr.String(), "mode": args.Mode.String(), "problem": textOf(args.Err)})
	})
	server, err := xds.NewGRPCServer(grpc.Creds(creds), mode)
	if err != nil {
		return err
	}
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	listener, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	return server.Serve(listener)
}

func ask(target string, wait time.Duration) error {
	creds, err := xdscredentials.NewClientCredentials(xdscredentials.ClientOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	var from peer.Peer
	reply, err := grpc_health_v1.NewHealthClient(connection).Check(
		ctx, &grpc_health_v1.HealthCheckRequest{}, grpc.WaitForReady(true), grpc.Peer(&from),
	)
	show(map[string]any{"status": reply.GetStatus().String(), "identity": identityOf(from.AuthInfo), "problem": textOf(err)})
	return nil
}

// identityOf returns the SPIFFE identity of the peer; "" without TLS.
func identityOf(info credentials.AuthInfo) string {
	tls, isTLS := info.(credentials.TLSInfo)
	if !isTLS || len(tls.State.PeerCertificates) == 0 || len(tls.State.PeerCertificates[0].URIs) == 0 {
		return ""
	}
	return tls.State.PeerCertificates[0].URIs[0].String()
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func show(line any) {
	if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
		log.Fatal(err)
	}
}
