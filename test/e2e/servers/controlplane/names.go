package main

import (
	"encoding/binary"
	"io"
	"net"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// outside is the address of every name below example.com. Other names do not exist.
var (
	outside     = [4]byte{192, 0, 2, 53}
	outsideText = "from outside"
)

// serveNames is the name server of the pods. It knows no name of the mesh.
func serveNames(address string) error {
	packets, err := net.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	go func() {
		buffer := make([]byte, 65535)
		for {
			count, from, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			if reply := nameAnswer(buffer[:count], true); reply != nil {
				packets.WriteTo(reply, from)
			}
		}
	}()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go serveNamesTo(connection)
		}
	}()
	return nil
}

func serveNamesTo(connection net.Conn) {
	defer connection.Close()
	for {
		var length uint16
		if binary.Read(connection, binary.BigEndian, &length) != nil {
			return
		}
		question := make([]byte, length)
		if _, err := io.ReadFull(connection, question); err != nil {
			return
		}
		reply := nameAnswer(question, false)
		if reply == nil {
			return
		}
		connection.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	}
}

// nameAnswer answers one question. A name `big.…` has more texts than fit into a datagram.
func nameAnswer(packet []byte, isDatagram bool) []byte {
	var asked dnsmessage.Message
	if asked.Unpack(packet) != nil || len(asked.Questions) != 1 {
		return nil
	}
	question := asked.Questions[0]
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: asked.ID, Response: true, RecursionDesired: asked.RecursionDesired, RecursionAvailable: true},
		Questions: asked.Questions,
	}
	name := strings.ToLower(question.Name.String())
	header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class, TTL: 7}
	switch {
	case !strings.HasSuffix(name, ".example.com."):
		reply.RCode = dnsmessage.RCodeNameError
	case question.Type == dnsmessage.TypeA:
		reply.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: outside}}}
	case question.Type == dnsmessage.TypeTXT && strings.HasPrefix(name, "big."):
		if isDatagram {
			reply.Truncated = true
			break
		}
		for range 20 {
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.TXTResource{TXT: []string{strings.Repeat("x", 200)}}})
		}
	case question.Type == dnsmessage.TypeTXT:
		reply.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.TXTResource{TXT: []string{outsideText}}}}
	}
	bytes, err := reply.Pack()
	if err != nil {
		return nil
	}
	return bytes
}
