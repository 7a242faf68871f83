package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// nameQuestion is a question about a name, from a pod.
type nameQuestion struct {
	Name     string `json:"name"`
	Type     uint16 `json:"type"`
	Protocol string `json:"protocol"`
}

type nameReply struct {
	Code          string   `json:"code"`
	Authoritative bool     `json:"authoritative"`
	Truncated     bool     `json:"truncated"`
	Answers       []string `json:"answers"`
	Problem       string   `json:"problem"`
}

// askers is the number of concurrent queries.
const askers = 16

// ask reads queries from standard input, sends them to a name server, and prints the replies.
func ask(server string) error {
	var questions []nameQuestion
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		return err
	}
	replies := make([]nameReply, len(questions))
	next := make(chan int)
	var group sync.WaitGroup
	for range askers {
		group.Add(1)
		go func() {
			defer group.Done()
			for index := range next {
				replies[index] = askOne(server, uint16(index), questions[index])
			}
		}()
	}
	for index := range questions {
		next <- index
	}
	close(next)
	group.Wait()
	return json.NewEncoder(os.Stdout).Encode(replies)
}

func askOne(server string, id uint16, question nameQuestion) nameReply {
	bytes, err := exchange(server, id, question)
	if err != nil {
		return nameReply{Problem: err.Error()}
	}
	var reply dnsmessage.Message
	if err := reply.Unpack(bytes); err != nil {
		return nameReply{Problem: err.Error()}
	}
	if reply.ID != id {
		return nameReply{Problem: fmt.Sprintf("the reply is to question %d, not %d", reply.ID, id)}
	}
	told := nameReply{Code: reply.RCode.String(), Authoritative: reply.Authoritative, Truncated: reply.Truncated, Answers: []string{}}
	for _, each := range reply.Answers {
		told.Answers = append(told.Answers, each.Header.Name.String()+" "+textOf(each.Body))
	}
	return told
}

func textOf(body dnsmessage.ResourceBody) string {
	switch body := body.(type) {
	case *dnsmessage.AResource:
		return "A " + net.IP(body.A[:]).String()
	case *dnsmessage.AAAAResource:
		return "AAAA " + net.IP(body.AAAA[:]).String()
	case *dnsmessage.CNAMEResource:
		return "CNAME " + body.CNAME.String()
	case *dnsmessage.TXTResource:
		return "TXT " + body.TXT[0]
	}
	return body.GoString()
}

func exchange(server string, id uint16, question nameQuestion) ([]byte, error) {
	name, err := dnsmessage.NewName(question.Name)
	if err != nil {
		return nil, err
	}
	asked := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: id, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: name, Type: dnsmessage.Type(question.Type), Class: dnsmessage.ClassINET}},
	}
	bytes, err := asked.Pack()
	if err != nil {
		return nil, err
	}
	connection, err := net.Dial(question.Protocol, server)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(10 * time.Second))
	if question.Protocol == "udp" {
		return exchangeDatagram(connection, bytes)
	}
	if _, err := connection.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(bytes))), bytes...)); err != nil {
		return nil, err
	}
	var length uint16
	if err := binary.Read(connection, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	reply := make([]byte, length)
	_, err = io.ReadFull(connection, reply)
	return reply, err
}

func exchangeDatagram(connection net.Conn, question []byte) ([]byte, error) {
	if _, err := connection.Write(question); err != nil {
		return nil, err
	}
	reply := make([]byte, 65535)
	count, err := connection.Read(reply)
	return reply[:count], err
}
