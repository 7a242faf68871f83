// Command kube answers what Kubernetes' own Go code does, one JSON request a line on stdin, one JSON answer a line on
// stdout:
//
//	{"op":"merge","type":"Pod","original":{...},"patch":{...}}   strategicpatch.StrategicMergeMapPatch
//	{"op":"decode","type":"Pod","text":"<YAML>"}                 sigs.k8s.io/yaml into the type, then json.Marshal
//	{"op":"quantity","text":"1.5Gi"}                             resource.ParseQuantity, then json.Marshal
//	{"op":"compare","text":"1","other":"1000m"}                  Quantity.Cmp
//	{"op":"schema","type":"Pod"}                                 the fields of the type and of all that it refers to
//	{"op":"selector","original":<LabelSelector>,"patch":<labels>} metav1.LabelSelectorAsSelector and Matches
//
// An answer is {"result":...} or {"error":"..."}.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"
)

type request struct {
	Op       string          `json:"op"`
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Other    string          `json:"other"`
	Original json.RawMessage `json:"original"`
	Patch    json.RawMessage `json:"patch"`
}

type answer struct {
	Result any    `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

var types = map[string]reflect.Type{}

func init() {
	for _, v := range []any{
		corev1.Pod{}, corev1.PodSpec{}, corev1.Container{}, corev1.ReplicationController{}, corev1.List{}, corev1.Volume{},
		appsv1.Deployment{}, appsv1.DaemonSet{}, appsv1.ReplicaSet{}, appsv1.StatefulSet{}, batchv1.Job{}, batchv1.CronJob{},
		metav1.ObjectMeta{},
	} {
		types[reflect.TypeOf(v).Name()] = reflect.TypeOf(v)
	}
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for in.Scan() {
		result, err := handle(in.Bytes())
		if err != nil {
			encoder.Encode(answer{Error: err.Error()})
		} else {
			encoder.Encode(answer{Result: result})
		}
	}
}

func handle(line []byte) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, err
	}
	switch r.Op {
	case "merge":
		return merge(r)
	case "decode":
		return decode(r)
	case "quantity":
		q, err := resource.ParseQuantity(r.Text)
		return q, err
	case "compare":
		a, b := resource.MustParse(r.Text), resource.MustParse(r.Other)
		return a.Cmp(b), nil
	case "schema":
		found := map[string][]field{}
		schema(types[r.Type], found)
		return found, nil
	case "selector":
		return selects(r)
	}
	return nil, fmt.Errorf("unknown op %q", r.Op)
}

// A field as encoding/json and strategic merge see it.
type field struct {
	JSON   string `json:"json"`
	Go     string `json:"go"`
	Type   string `json:"type"`
	Always bool   `json:"always"`
	Merges bool   `json:"merges"`
	Key    string `json:"key"`
}

func schema(t reflect.Type, found map[string][]field) {
	if _, known := found[t.Name()]; known {
		return
	}
	found[t.Name()] = nil
	found[t.Name()] = fieldsOf(t, found)
}

func fieldsOf(t reflect.Type, found map[string][]field) []field {
	fields := []field{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			fields = append(fields, fieldsOf(f.Type, found)...)
			continue
		}
		if name == "-" || name == "" {
			continue
		}
		fields = append(fields, field{
			JSON: name, Go: f.Name, Type: typeText(f.Type, found),
			Always: !strings.Contains(options, "omit") ||
				f.Type.Kind() == reflect.Struct && !strings.Contains(options, "omitzero"),
			Merges: strings.Contains(f.Tag.Get("patchStrategy"), "merge"), Key: f.Tag.Get("patchMergeKey"),
		})
	}
	return fields
}

func typeText(t reflect.Type, found map[string][]field) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + typeText(t.Elem(), found)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "[]byte"
		}
		return "[]" + typeText(t.Elem(), found)
	case reflect.Map:
		return "map[string]" + typeText(t.Elem(), found)
	case reflect.Struct:
		if !reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			schema(t, found)
		}
		return t.Name()
	}
	return t.Kind().String()
}

func merge(r request) (any, error) {
	var original, patch map[string]any
	if err := json.Unmarshal(r.Original, &original); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(r.Patch, &patch); err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergeMapPatch(original, patch, reflect.New(types[r.Type]).Interface())
}

func decode(r request) (any, error) {
	target := reflect.New(types[r.Type]).Interface()
	if err := yaml.Unmarshal([]byte(r.Text), target); err != nil {
		return nil, err
	}
	text, err := json.Marshal(target)
	return string(text), err
}

func selects(r request) (any, error) {
	var selector *metav1.LabelSelector
	decoder := json.NewDecoder(bytes.NewReader(r.Original))
	if err := decoder.Decode(&selector); err != nil {
		return nil, err
	}
	var set labels.Set
	if err := json.Unmarshal(r.Patch, &set); err != nil {
		return nil, err
	}
	compiled, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, err
	}
	return compiled.Matches(set), nil
}
