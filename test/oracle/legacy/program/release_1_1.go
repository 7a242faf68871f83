package inject

import (
	"bytes"
	"errors"
	"strings"

	"github.com/ghodss/yaml"
	"k8s.io/api/admission/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"istio.io/istio/pilot/pkg/model"
)

func oracleAnswer(q oracleQuestion) (oracleResult, error) {
	mesh, err := model.ApplyMeshConfigDefaults(q.Mesh)
	if err != nil {
		return oracleResult{}, err
	}
	var c Config
	if err := yaml.Unmarshal([]byte(q.Config), &c); err != nil {
		return oracleResult{}, err
	}
	if !q.Review {
		var out bytes.Buffer
		err = IntoResourceFile(c.Template, mesh, strings.NewReader(q.Manifest), &out)
		return oracleResult{Output: out.String()}, err
	}
	wh := &Webhook{sidecarConfig: &c, sidecarTemplateVersion: sidecarTemplateVersionHash(c.Template), meshConfig: mesh}
	request := &v1beta1.AdmissionRequest{Object: runtime.RawExtension{Raw: []byte(q.Manifest)}, Namespace: "trade"}
	response := wh.inject(&v1beta1.AdmissionReview{Request: request})
	if response.Result != nil && response.Result.Message != "" {
		return oracleResult{}, errors.New(response.Result.Message)
	}
	return oracleResult{Patch: response.Patch}, nil
}
