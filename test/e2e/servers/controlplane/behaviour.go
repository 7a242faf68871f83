package main

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// fault is a fault of one service.
type fault struct {
	// Codes are the statuses of the next calls, one each.
	Codes []codes.Code `json:"codes"`
	// DelayMillis is the delay before each answer.
	DelayMillis int `json:"delayMillis"`
}

// behaviour holds the faults that tests inject.
type behaviour struct {
	CA  fault `json:"ca"`
	XDS fault `json:"xds"`
	// NDS are streams whose first request is for the name table.
	NDS          fault `json:"nds"`
	RefuseTokens bool  `json:"refuseTokens"`
	LeafSeconds  int   `json:"leafSeconds"`
}

type behaviourBox struct {
	mu    sync.Mutex
	value behaviour
}

func (b *behaviourBox) get() behaviour {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.value
}

func (b *behaviourBox) set(value behaviour) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.value = value
}

// fail returns the next error of a service, after its delay.
func (b *behaviourBox) fail(ctx context.Context, which func(*behaviour) *fault) error {
	b.mu.Lock()
	chosen := which(&b.value)
	delay := time.Duration(chosen.DelayMillis) * time.Millisecond
	code := codes.OK
	if len(chosen.Codes) > 0 {
		code, chosen.Codes = chosen.Codes[0], chosen.Codes[1:]
	}
	b.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(delay):
	}
	if code == codes.OK {
		return nil
	}
	return status.Errorf(code, "the test asks for %v", code)
}
