// Injection by Istio 1.8 as a function of texts: JSON lines in, JSON lines out. It is built in a checkout of that release, with
// exported.go of this folder copied to pkg/kube/inject:
//
//	go build -mod=mod -ldflags=-checklinkname=0 -o PROGRAM ./mesh-oracle
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/kube/inject"
	"istio.io/pkg/log"
)

type question struct {
	Config   string `json:"config"`
	Values   string `json:"values"`
	Mesh     string `json:"mesh"`
	Manifest string `json:"manifest"`
	// Review: the manifest is a pod as JSON, for the webhook.
	Review bool `json:"review"`
}

type answer struct {
	Output string          `json:"output,omitempty"`
	Patch  json.RawMessage `json:"patch,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func main() {
	options := log.DefaultOptions()
	options.OutputPaths = []string{"/dev/null"}
	_ = log.Configure(options)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			panic(err)
		}
		line, _ := json.Marshal(run(q))
		fmt.Println(string(line))
	}
}

func run(q question) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{Error: fmt.Sprintf("panic: %v", p)}
		}
	}()
	m, err := mesh.ApplyMeshConfigDefaults(q.Mesh)
	if err != nil {
		return answer{Error: err.Error()}
	}
	if q.Review {
		patch, err := inject.OracleReview(q.Config, q.Values, m, []byte(q.Manifest))
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Patch: patch}
	}
	template, err := inject.OracleTemplate(q.Config)
	if err != nil {
		return answer{Error: err.Error()}
	}
	var out bytes.Buffer
	err = inject.IntoResourceFile(template, q.Values, "", m, strings.NewReader(q.Manifest), &out, func(string) {})
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Output: out.String()}
}
