package main

import "sync"

// seen is what clients did.
type seen struct {
	mu sync.Mutex
	// CA are the calls for a certificate, in their order.
	CA []certificateCall `json:"ca"`
	// Streams are those of discovery, in their order, with those that have ended.
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
	// Asked are the types, each once, in their order.
	Asked []string `json:"asked"`
	// Refused are the answers that were not taken, with the reason.
	Refused []refusal `json:"refused"`
	// Health are reports: "" for healthy, else the reason.
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
