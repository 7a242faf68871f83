package main

import (
	"fmt"
	"text/template"
)

// Mode is an integer with a String method, as a protobuf enum is.
type Mode int32

func (m Mode) String() string {
	if m == 0 {
		return "REDIRECT"
	}
	return "TPROXY"
}

// Port is a plain struct with integers of several sizes.
type Port struct {
	Name     string
	Number   int32
	Big      uint64
	Priority int8
}

// Pod has what Kubernetes types have: nested structs, pointers, typed maps and lists.
type Pod struct {
	Name     string
	Labels   map[string]string
	Empty    map[string]string
	Args     []string
	Ports    []Port
	First    *Port
	None     *Port
	Replicas *int64
	Mode     Mode
	Any      any
	Ready    bool
}

// Hello is a method without arguments.
func (p Pod) Hello() string { return "hello " + p.Name }

// Join is a method with arguments.
func (p Pod) Join(a string, n int) string { return fmt.Sprint(p.Name, a, n) }

// Fail is a method that returns an error.
func (p Pod) Fail() (string, error) { return "", fmt.Errorf("no luck") }

// Safe may be called on a nil pointer.
func (p *Port) Safe() string {
	if p == nil {
		return "nil"
	}
	return p.Name
}

func pod() any {
	replicas := int64(3)
	port := Port{"http", 8080, 18446744073709551615, -1}
	return &Pod{
		Name: "web", Labels: map[string]string{"app": "web", "b": ""}, Args: []string{"x", "y"},
		Ports: []Port{port, {"grpc", 9090, 1, 2}}, First: &port, Replicas: &replicas, Mode: 1, Ready: true,
	}
}

// values are the values that "go" in a request names.
var values = map[string]func() any{
	"pod":  pod,
	"nil":  func() any { return nil },
	"list": func() any { return []string{"a", "b"} },
	"ints": func() any {
		return map[string]any{"i": 1, "i64": int64(2), "u8": uint8(3), "u64": uint64(1 << 63), "i8": int8(-4)}
	},
}

// extra are functions for tests of the engine. test/oracle/gotemplate/extra.ts has the same.
var extra = template.FuncMap{
	"tInt":    func(n int) int { return n },
	"tInt64":  func(n int64) int64 { return n },
	"tUint8":  func(n uint8) uint8 { return n },
	"tFloat":  func(f float64) float64 { return f },
	"tString": func(s string) string { return s },
	"tBool":   func(b bool) bool { return b },
	"tAny":    func(v any) any { return v },
	"tMap":    func(m map[string]any) int { return len(m) },
	"tList":   func(l []any) int { return len(l) },
	"tMany":   func(s string, n ...int) string { return fmt.Sprint(s, n) },
	"tFail":   func(s string) (string, error) { return "", fmt.Errorf("failed: %s", s) },
	"tNil":    func() any { return nil },
	"tFunc":   func() any { return func(a, b int) int { return a + b } },
}
