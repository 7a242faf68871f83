package inject

import (
	"bytes"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/kube"
)

func oracleAnswer(q oracleQuestion) (oracleResult, error) {
	m, err := mesh.ApplyMeshConfigDefaults(q.Mesh)
	if err != nil {
		return oracleResult{}, err
	}
	c, err := unmarshalConfig([]byte(q.Config))
	if err != nil {
		return oracleResult{}, err
	}
	if !q.Review {
		var out bytes.Buffer
		err = IntoResourceFile(c.Template, q.Values, "", m, strings.NewReader(q.Manifest), &out, func(string) {})
		return oracleResult{Output: out.String()}, err
	}
	version := sidecarTemplateVersionHash(c.Template)
	wh := &Webhook{Config: c, sidecarTemplateVersion: version, meshConfig: m, valuesConfig: q.Values}
	request := &kube.AdmissionRequest{Object: runtime.RawExtension{Raw: []byte(q.Manifest)}, Namespace: "trade"}
	response := wh.inject(&kube.AdmissionReview{Request: request}, "")
	if response.Result != nil && response.Result.Message != "" {
		return oracleResult{}, errors.New(response.Result.Message)
	}
	return oracleResult{Patch: response.Patch}, nil
}
