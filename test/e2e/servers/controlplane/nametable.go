package main

import (
	"encoding/json"
	"sort"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/anypb"
)

const nameTableType = "type.googleapis.com/istio.networking.nds.v1.NameTable"

// nameTable is a hand-written message: no small public module defines it.
type nameTable struct {
	Table map[string]nameInfo `json:"table"`
}

type nameInfo struct {
	IPs       []string `json:"ips"`
	Registry  string   `json:"registry"`
	Shortname string   `json:"shortname"`
	Namespace string   `json:"namespace"`
}

func readNameTable(text []byte) (string, *anypb.Any, error) {
	var table nameTable
	if err := json.Unmarshal(text, &table); err != nil {
		return "", nil, err
	}
	hosts := make([]string, 0, len(table.Table))
	for host := range table.Table {
		hosts = append(hosts, host)
	}
	sort.Strings(hosts)
	var bytes []byte
	for _, host := range hosts {
		entry := appendText(nil, 1, host)
		entry = appendMessage(entry, 2, table.Table[host].encoded())
		bytes = appendMessage(bytes, 1, entry)
	}
	return "nametable", &anypb.Any{TypeUrl: nameTableType, Value: bytes}, nil
}

func (n nameInfo) encoded() []byte {
	var bytes []byte
	for _, ip := range n.IPs {
		bytes = appendText(bytes, 1, ip)
	}
	bytes = appendText(bytes, 2, n.Registry)
	bytes = appendText(bytes, 3, n.Shortname)
	return appendText(bytes, 4, n.Namespace)
}

func appendText(bytes []byte, field protowire.Number, text string) []byte {
	if text == "" {
		return bytes
	}
	return protowire.AppendString(protowire.AppendTag(bytes, field, protowire.BytesType), text)
}

func appendMessage(bytes []byte, field protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(bytes, field, protowire.BytesType), message)
}
