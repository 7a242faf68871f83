//go:build program

// Package program names Istio's pilot-agent, so that record.ts can build it.
package program

import _ "istio.io/istio/pilot/cmd/pilot-agent"
