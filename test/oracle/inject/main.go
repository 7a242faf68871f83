// Istio's own injection as a function of texts: JSON lines in, JSON lines out.
//
// A line with `settings` (`config`, `values` and `mesh` as texts) has no answer: it gives the settings the next number, from 0.
// Any other line has `use`, the number of its settings, `manifest`, `revision` and `native`; its answer has `output` (what
// `kube-inject` writes) and, if that failed, `error`.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"
	"sigs.k8s.io/yaml"

	"istio.io/istio/pilot/pkg/features"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/kube/inject"
	"istio.io/istio/pkg/log"
)

type settings struct {
	Config string `json:"config"`
	Values string `json:"values"`
	Mesh   string `json:"mesh"`
}

type question struct {
	Settings *settings `json:"settings"`
	Use      int       `json:"use"`
	Manifest string    `json:"manifest"`
	Revision string    `json:"revision"`
	Native   bool      `json:"native"`
}

type answer struct {
	Output string `json:"output"`
	Error  string `json:"error,omitempty"`
}

type loaded struct {
	templates inject.Templates
	values    inject.ValuesConfig
	mesh      *meshconfig.MeshConfig
	err       error
}

func main() {
	silence()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	var known []loaded
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if q.Settings != nil {
			known = append(known, load(*q.Settings))
			continue
		}
		line, _ := json.Marshal(run(known[q.Use], q))
		out.Write(append(line, '\n'))
		out.Flush()
	}
}

// silence keeps Istio's log from the answers.
func silence() {
	options := log.DefaultOptions()
	options.OutputPaths = []string{"/dev/null"}
	_ = log.Configure(options)
}

func load(s settings) (l loaded) {
	if l.mesh, l.err = mesh.ApplyMeshConfigDefaults(s.Mesh); l.err != nil {
		return l
	}
	if l.values, l.err = inject.NewValuesConfig(s.Values); l.err != nil {
		return l
	}
	l.templates, l.err = inject.ParseTemplates(rawTemplates(s.Config))
	return l
}

// rawTemplates takes a file without templates as the text of one, as kube-inject does.
func rawTemplates(config string) inject.RawTemplates {
	var c inject.Config
	if err := yaml.Unmarshal([]byte(config), &c); err != nil || len(c.RawTemplates) == 0 {
		return inject.RawTemplates{inject.SidecarTemplateName: config}
	}
	return c.RawTemplates
}

func run(l loaded, q question) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{Error: fmt.Sprintf("panic: %v", p)}
		}
	}()
	if l.err != nil {
		return answer{Error: l.err.Error()}
	}
	features.EnableNativeSidecars = features.NativeSidecarModeDisabled
	if q.Native {
		features.EnableNativeSidecars = features.NativeSidecarModeEnabled
	}
	revision := q.Revision
	if revision == "default" {
		revision = ""
	}
	var out bytes.Buffer
	err := inject.IntoResourceFile(nil, l.templates, l.values, revision, l.mesh, strings.NewReader(q.Manifest), &out, func(string) {})
	if err != nil {
		return answer{Output: out.String(), Error: err.Error()}
	}
	return answer{Output: out.String()}
}
