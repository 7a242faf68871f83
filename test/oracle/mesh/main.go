// The oracle for mesh configuration: Istio's own protos and its reading, merging and validation of them.
//
//	go run . schema            writes the messages and enums reachable from MeshConfig, one JSON line each
//	go run . < questions       reads {"kind","text"} JSON lines, answers {"kind","text","json","clean","error"} lines
//
// Kinds: mesh (a mesh configuration over the defaults), proxy (an annotation proxy.istio.io/config over the defaults),
// merge (two proxy configurations, separated by a line "---", over each other), prefix, uint16, uint32, bool.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"sort"
	"strconv"
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/validation/agent"
	"istio.io/istio/pkg/util/protomarshal"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

type question struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

type answer struct {
	question
	JSON  string `json:"json,omitempty"`
	Clean string `json:"clean,omitempty"`
	Error string `json:"error,omitempty"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "schema" {
		dumpSchema()
		return
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := out.Encode(reply(q)); err != nil {
			os.Exit(1)
		}
	}
}

func reply(q question) answer {
	a := answer{question: q}
	var err error
	switch q.Kind {
	case "mesh":
		var m *meshconfig.MeshConfig
		if m, err = mesh.ApplyMeshConfigDefaults(q.Text); err == nil {
			a.JSON = toJSON(m)
			a.Clean = toJSON(clean(m.DefaultConfig))
		}
	case "proxy":
		a.JSON, a.Clean, err = proxies(q.Text)
	case "merge":
		a.JSON, a.Clean, err = proxies(strings.Split(q.Text, "\n---\n")...)
	case "prefix":
		var p netip.Prefix
		if p, err = netip.ParsePrefix(q.Text); err == nil {
			a.JSON = p.String()
		}
	case "uint16", "uint32":
		bits, _ := strconv.Atoi(strings.TrimPrefix(q.Kind, "uint"))
		var n uint64
		if n, err = strconv.ParseUint(q.Text, 10, bits); err == nil {
			a.JSON = strconv.FormatUint(n, 10)
		}
	case "bool":
		var b bool
		if b, err = strconv.ParseBool(q.Text); err == nil {
			a.JSON = strconv.FormatBool(b)
		}
	default:
		err = fmt.Errorf("unknown kind %q", q.Kind)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

func proxies(texts ...string) (string, string, error) {
	pc := mesh.DefaultProxyConfig()
	for _, text := range texts {
		var err error
		if pc, err = mesh.MergeProxyConfig(text, pc); err != nil {
			return "", "", err
		}
	}
	if v := agent.ValidateMeshConfigProxyConfig(pc); v.Err != nil {
		return "", "", v.Err
	}
	return toJSON(pc), toJSON(clean(pc)), nil
}

func toJSON(m proto.Message) string {
	text, err := protomarshal.ToJSON(m)
	if err != nil {
		return "error: " + err.Error()
	}
	return text
}

// The fields that Istio leaves out of PROXY_CONFIG when they have the default value.
var cleaned = []protoreflect.Name{
	"config_path", "binary_path", "control_plane_auth_policy", "service_cluster", "drain_duration",
	"termination_drain_duration", "discovery_address", "envoy_metrics_service", "envoy_access_log_service", "tracing",
	"proxy_admin_port", "stat_name_length", "status_port", "concurrency",
}

func clean(pc *meshconfig.ProxyConfig) *meshconfig.ProxyConfig {
	copied := protomarshal.Clone(pc)
	m, defaults := copied.ProtoReflect(), mesh.DefaultProxyConfig().ProtoReflect()
	for _, name := range cleaned {
		fd := m.Descriptor().Fields().ByName(name)
		if m.Has(fd) && m.Get(fd).Equal(defaults.Get(fd)) && m.Has(fd) == defaults.Has(fd) {
			m.Clear(fd)
		}
	}
	return copied
}

type fieldLine struct {
	Name   string `json:"name"`
	JSON   string `json:"json"`
	Go     string `json:"go"`
	Type   string `json:"type"`
	Oneof  string `json:"oneof,omitempty"`
	Number int    `json:"number"`
}

type typeLine struct {
	Message string      `json:"message,omitempty"`
	Enum    string      `json:"enum,omitempty"`
	Go      string      `json:"go"`
	Fields  []fieldLine `json:"fields,omitempty"`
	Values  []string    `json:"values,omitempty"`
}

func dumpSchema() {
	types := map[string]typeLine{}
	collect((&meshconfig.MeshConfig{}).ProtoReflect().Descriptor(), types)
	names := make([]string, 0, len(types))
	for name := range types {
		names = append(names, name)
	}
	sort.Strings(names)
	out := json.NewEncoder(os.Stdout)
	for _, name := range names {
		if err := out.Encode(types[name]); err != nil {
			os.Exit(1)
		}
	}
}

func collect(md protoreflect.MessageDescriptor, types map[string]typeLine) {
	name := string(md.FullName())
	if _, seen := types[name]; seen || strings.HasPrefix(name, "google.protobuf.") {
		return
	}
	types[name] = typeLine{}
	line := typeLine{Message: name, Go: goName(md)}
	for i := 0; i < md.Fields().Len(); i++ {
		fd := md.Fields().Get(i)
		field := fieldLine{
			Name: string(fd.Name()), JSON: fd.JSONName(), Go: goCamelCase(string(fd.Name())),
			Type: typeOf(fd), Number: int(fd.Number()),
		}
		if od := fd.ContainingOneof(); od != nil && !od.IsSynthetic() {
			field.Oneof = string(od.Name())
		}
		line.Fields = append(line.Fields, field)
		value := fd
		if fd.IsMap() {
			value = fd.MapValue()
		}
		if value.Message() != nil {
			collect(value.Message(), types)
		}
		if ed := value.Enum(); ed != nil {
			collectEnum(ed, types)
		}
	}
	types[name] = line
}

func collectEnum(ed protoreflect.EnumDescriptor, types map[string]typeLine) {
	line := typeLine{Enum: string(ed.FullName()), Go: goName(ed)}
	for i := 0; i < ed.Values().Len(); i++ {
		v := ed.Values().Get(i)
		line.Values = append(line.Values, fmt.Sprintf("%s=%d", v.Name(), v.Number()))
	}
	types[line.Enum] = line
}

func typeOf(fd protoreflect.FieldDescriptor) string {
	if fd.IsMap() {
		return "map " + singular(fd.MapValue())
	}
	if fd.IsList() {
		return "list " + singular(fd)
	}
	return singular(fd)
}

func singular(fd protoreflect.FieldDescriptor) string {
	if fd.Message() != nil {
		return "message " + string(fd.Message().FullName())
	}
	if fd.Enum() != nil {
		return "enum " + string(fd.Enum().FullName())
	}
	return fd.Kind().String()
}

// The Go type of a message or enum: its package's last element and the nested names joined by "_".
func goName(d protoreflect.Descriptor) string {
	path := []string{}
	for ; d != nil; d = d.Parent() {
		if file, ok := d.(protoreflect.FileDescriptor); ok {
			parts := strings.Split(string(file.Package()), ".")
			return parts[len(parts)-1] + "." + strings.Join(path, "_")
		}
		path = append([]string{string(d.Name())}, path...)
	}
	return strings.Join(path, "_")
}

// protoc-gen-go's field names: an underscore before a lower-case letter goes away and the letter becomes upper-case.
func goCamelCase(s string) string {
	var b strings.Builder
	upper := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '_' && i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z':
			upper = true
			continue
		case c >= '0' && c <= '9':
			upper = true
			b.WriteByte(c)
			continue
		case upper && c >= 'a' && c <= 'z':
			c -= 'a' - 'A'
		}
		upper = false
		b.WriteByte(c)
	}
	return b.String()
}
