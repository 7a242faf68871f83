// The oracle for src/golang/gotemplate: Go's text/template with sprig v3.
//
// Reads one JSON request a line from stdin and writes one JSON answer a line to stdout:
//
//	{"name": "t", "template": "{{.a}}", "data": {"a": 1}, "delims": ["[[", "]]"],
//	 "go": "pod", "stubs": ["toYaml"], "parseOnly": true, "plain": true}
//	{"out": "1"} or {"error": "template: t:1:2: ..."}
//
// "go" takes a Go value from structs.go as data instead of "data"; "stubs" declares functions that return nil;
// "plain" leaves sprig out (it has a slice of its own).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

type request struct {
	Name       string    `json:"name"`
	Template   string    `json:"template"`
	Data       any       `json:"data"`
	Delims     [2]string `json:"delims"`
	Go         string    `json:"go"`
	Stubs      []string  `json:"stubs"`
	ParseOnly  bool      `json:"parseOnly"`
	Plain      bool      `json:"plain"`
}

type answer struct {
	Out   *string `json:"out,omitempty"`
	Error string  `json:"error,omitempty"`
}

func stubs(names []string) template.FuncMap {
	funcs := template.FuncMap{}
	for _, name := range names {
		funcs[name] = func(...any) any { return nil }
	}
	return funcs
}

// limited stops a template with endless output.
type limited struct{ strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > 16<<20 {
		return 0, fmt.Errorf("output too large")
	}
	return l.Builder.Write(p)
}

func run(r request) (out string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	t := template.New(r.Name)
	if !r.Plain {
		t = t.Funcs(sprig.TxtFuncMap())
	}
	t = t.Funcs(extra).Funcs(stubs(r.Stubs)).Delims(r.Delims[0], r.Delims[1])
	if t, err = t.Parse(r.Template); err != nil || r.ParseOnly {
		return "", err
	}
	data := r.Data
	if r.Go != "" {
		data = values[r.Go]()
	}
	var w limited
	err = t.Execute(&w, data)
	return w.String(), err
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	decoder := json.NewDecoder(in)
	for {
		var r request
		if decoder.Decode(&r) != nil {
			return
		}
		text, err := run(r)
		a := answer{}
		if err != nil {
			a.Error = err.Error()
		} else {
			a.Out = &text
		}
		if encoder.Encode(a) != nil {
			os.Exit(1)
		}
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}
