// Reads and writes YAML as kubectl does, for tests: one JSON request per line on stdin, one answer per line on stdout.
//
//	{"read": "<yaml>"}   -> {"json": <value>} or {"error": "..."}
//	{"write": <value>}   -> {"yaml": "..."}
//	{"split": "<text>"}  -> {"documents": ["..."]} or {"error": "..."}
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

type request struct {
	Read  *string         `json:"read"`
	Write json.RawMessage `json:"write"`
	Split *string         `json:"split"`
}

type answer struct {
	JSON      json.RawMessage `json:"json,omitempty"`
	YAML      string          `json:"yaml,omitempty"`
	Documents []string        `json:"documents,omitempty"`
	Error     string          `json:"error,omitempty"`
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		var asked request
		if err := in.Decode(&asked); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			panic(err)
		}
		if err := encoder.Encode(reply(asked)); err != nil {
			panic(err)
		}
	}
}

func reply(asked request) answer {
	switch {
	case asked.Read != nil:
		return read(*asked.Read)
	case asked.Split != nil:
		return split(*asked.Split)
	default:
		return write(asked.Write)
	}
}

func read(text string) (result answer) {
	value, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{JSON: value}
}

func write(value json.RawMessage) answer {
	text, err := yaml.JSONToYAML(value)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{YAML: string(text)}
}

func split(text string) answer {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader([]byte(text))))
	var documents []string
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return answer{Documents: documents}
		}
		if err != nil {
			return answer{Error: strings.ReplaceAll(err.Error(), "\n", " ")}
		}
		documents = append(documents, string(document))
	}
}
