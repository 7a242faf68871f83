// A control plane for tests, of public modules: it issues certificates like istiod, and serves given resources.
//
// A root and an intermediate, created at start, sign certificates. Discovery (state of the world and delta) serves
// each proxy its own resources. Tests change its behaviour at run time, over HTTP on a Unix socket:
// see admin.go.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	admin := flag.String("admin", "", "path of the Unix socket of the admin interface")
	tokens := flag.String("tokens", "", "file of accepted tokens, read at each call: TOKEN SPIFFE-ID on each line")
	secure := flag.String("secure", ":15012", "address for TLS")
	plain := flag.String("plain", ":15010", "address for plain text")
	dns := flag.String("dns", "", "address for questions about names outside of the mesh")
	askAt := flag.String("ask", "", "instead of all that, puts the questions of standard input to this name server")
	flag.Parse()
	if *askAt != "" {
		if err := ask(*askAt); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(*admin, *tokens, *secure, *plain, *dns); err != nil {
		log.Fatal(err)
	}
}

func run(admin, tokens, secure, plain, dns string) error {
	authority, err := newAuthority()
	if err != nil {
		return err
	}
	plane := &plane{
		authority: authority,
		behaviour: &behaviourBox{},
		seen:      newSeen(),
		store:     newStore(),
		tokens:    tokens,
	}
	plane.secure = &door{address: secure, open: plane.secureServer}
	plane.plain = &door{address: plain, open: plane.plainServer}
	for _, each := range []*door{plane.secure, plane.plain} {
		if err := each.start(); err != nil {
			return err
		}
	}
	if dns != "" {
		if err := serveNames(dns); err != nil {
			return err
		}
	}
	listener, err := net.Listen("unix", admin)
	if err != nil {
		return err
	}
	go func() { log.Fatal(plane.serveAdmin(listener)) }()
	fmt.Println("started")
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	<-end
	return os.RemoveAll(admin)
}

// plane is the shared state of the services.
type plane struct {
	authority *authority
	behaviour *behaviourBox
	seen      *seen
	store     *store
	tokens    string
	secure    *door
	plain     *door
}
