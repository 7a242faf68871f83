// Package inject: injection by an old release of Istio as a function of texts, JSON lines in, JSON lines out. build.ts copies this
// file and that of the release into the release's own package, which has what is not exported.
package inject

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

type oracleQuestion struct {
	Config   string `json:"config"`
	Values   string `json:"values"`
	Mesh     string `json:"mesh"`
	Manifest string `json:"manifest"`
	// Review: the manifest is a pod as JSON, for the webhook.
	Review bool `json:"review"`
	// Native: proxies are native sidecars, in releases that have them.
	Native bool `json:"native"`
}

// oracleResult has manifests, or the webhook's patch.
type oracleResult struct {
	Output string          `json:"output,omitempty"`
	Patch  json.RawMessage `json:"patch,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// OracleMain answers questions until the input ends.
func OracleMain() {
	out := answersOnly()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var q oracleQuestion
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			panic(err)
		}
		os.Setenv("ENABLE_NATIVE_SIDECARS", strconv.FormatBool(q.Native))
		line, _ := json.Marshal(oracleResultOf(q))
		fmt.Fprintln(out, string(line))
	}
}

// answersOnly keeps Istio's log from the answers: it is where the standard output was.
func answersOnly() *os.File {
	answers, err := syscall.Dup(1)
	if err != nil {
		panic(err)
	}
	if err := syscall.Dup2(2, 1); err != nil {
		panic(err)
	}
	return os.NewFile(uintptr(answers), "answers")
}

func oracleResultOf(q oracleQuestion) (result oracleResult) {
	defer func() {
		if p := recover(); p != nil {
			result = oracleResult{Error: fmt.Sprintf("panic: %v", p)}
		}
	}()
	result, err := oracleAnswer(q)
	if err != nil {
		return oracleResult{Error: err.Error()}
	}
	return result
}
