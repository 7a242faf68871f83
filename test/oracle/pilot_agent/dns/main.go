// pilot-agent's DNS server with the name table of the benchmark of DNS: as many hosts as the argument says. Prints its port.
package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"strconv"

	"istio.io/istio/pkg/dns/client"
	dnsproto "istio.io/istio/pkg/dns/proto"
	istiolog "istio.io/istio/pkg/log"
)

func main() {
	hosts, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := serve(hosts); err != nil {
		log.Fatal(err)
	}
	select {}
}

func serve(hosts int) error {
	// The server does not say which port it has.
	free, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := free.LocalAddr().(*net.UDPAddr)
	if err := free.Close(); err != nil {
		return err
	}
	// It writes to standard output.
	istiolog.FindScope("dns").SetOutputLevel(istiolog.ErrorLevel)
	server, err := client.NewLocalDNSServer("ns1", "ns1.svc.cluster.local", address.String())
	if err != nil {
		return err
	}
	table := map[string]*dnsproto.NameTable_NameInfo{}
	for at := range hosts {
		table[fmt.Sprintf("host-%d.example.com", at)] = &dnsproto.NameTable_NameInfo{
			Ips:      []string{fmt.Sprintf("10.0.0.%d", at%256)},
			Registry: "External",
		}
	}
	server.UpdateLookupTable(&dnsproto.NameTable{Table: table})
	server.StartDNS()
	fmt.Println(address.Port)
	return nil
}
