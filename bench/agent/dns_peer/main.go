// The two ends of the benchmark of DNS.
//
//	dns_peer serve                                   answers every question with one address; prints its port
//	dns_peer ask PORT SECONDS AT-ONCE HOSTS          asks for host-N.example.com; prints the number of answers
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"time"
)

func main() {
	if os.Args[1] == "serve" {
		log.Fatal(serve())
	}
	numbers := make([]int, 4)
	for index := range numbers {
		numbers[index], _ = strconv.Atoi(os.Args[index+2])
	}
	answers, err := ask(numbers[0], time.Duration(numbers[1])*time.Second, numbers[2], numbers[3])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answers)
}

// serve does the least that a server in Go can do: it looks nothing up.
func serve() error {
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	fmt.Println(socket.LocalAddr().(*net.UDPAddr).Port)
	record := []byte{0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 10, 0, 0, 1}
	buffer := make([]byte, 512)
	for {
		length, from, err := socket.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return err
		}
		answer := append(buffer[:length], record...)
		answer[2] |= 0x84
		answer[7] = 1
		if _, err := socket.WriteToUDPAddrPort(answer, from); err != nil {
			return err
		}
	}
}

func ask(port int, duration time.Duration, atOnce, hosts int) (int, error) {
	socket, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return 0, err
	}
	questions := make([][]byte, hosts)
	for index := range questions {
		questions[index] = question(index)
	}
	for sent := range atOnce {
		if _, err := socket.Write(questions[sent%hosts]); err != nil {
			return 0, err
		}
	}
	end := time.Now().Add(duration)
	buffer := make([]byte, 512)
	answers := 0
	for ; time.Now().Before(end); answers++ {
		if err := socket.SetReadDeadline(end.Add(10 * time.Second)); err != nil {
			return 0, err
		}
		if length, err := socket.Read(buffer); err != nil {
			return 0, err
		} else if buffer[3]&15 != 0 || buffer[7] == 0 {
			return 0, fmt.Errorf("no answer: %x", buffer[:length])
		}
		if _, err := socket.Write(questions[(answers+atOnce)%hosts]); err != nil {
			return 0, err
		}
	}
	return answers, nil
}

func question(id int) []byte {
	message := binary.BigEndian.AppendUint16(nil, uint16(id))
	message = append(message, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0)
	for _, label := range []string{fmt.Sprintf("host-%d", id), "example", "com"} {
		message = append(append(message, byte(len(label))), label...)
	}
	return append(message, 0, 0, 1, 0, 1)
}
