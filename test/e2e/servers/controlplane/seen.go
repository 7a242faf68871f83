package main

import "sync"

// seen records the calls of clients.
type seen struct {
	mu sync.Mutex
	// CA are the calls for certificates, in order.
	CA []certificateCall `json:"ca"`
	// Streams are the discovery streams in order, ended ones included.
	Streams []*streamSeen `json:"streams"`
}

type certificateCall struct {
	Token    string            `json:"token"`
	Identity string            `json:"identity"`
	Code     string            `json:"code"`
	Seconds  int64             `json:"seconds"`
	Key      string            `json:"key"`
	URIs     []string          `json:"uris"`
	Headers  map[string]string `json:"headers"`
}

type streamSeen struct {
	Node     string            `json:"node"`
	Delta    bool              `json:"delta"`
	Plain    bool              `json:"plain"`
	Token    string            `json:"token"`
	Identity string            `json:"identity"`
	Headers  map[string]string `json:"headers"`
	// Asked are the requested types, each once, in order.
	Asked []string `json:"asked"`
	// Refused are the rejected answers (NACK) with the reason.
	Refused []refusal `json:"refused"`
	// Health are the reports: "" for healthy, else the reason.
	Health []string `json:"health"`
	Code   string   `json:"code"`
	Open   bool     `json:"open"`
}

type refusal struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

func newSeen() *seen {
	return &seen{CA: []certificateCall{}, Streams: []*streamSeen{}}
}

func (s *seen) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}
