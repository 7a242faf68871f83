package inject

import (
	"errors"

	"github.com/ghodss/yaml"
	"k8s.io/api/admission/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	meshconfig "istio.io/api/mesh/v1alpha1"
)

// OracleTemplate is the template of a configuration.
func OracleTemplate(config string) (string, error) {
	var c Config
	err := yaml.Unmarshal([]byte(config), &c)
	return c.Template, err
}

// OracleReview is the webhook's patch for a pod.
func OracleReview(config string, mesh *meshconfig.MeshConfig, pod []byte) ([]byte, error) {
	var c Config
	if err := yaml.Unmarshal([]byte(config), &c); err != nil {
		return nil, err
	}
	wh := &Webhook{sidecarConfig: &c, sidecarTemplateVersion: sidecarTemplateVersionHash(c.Template), meshConfig: mesh}
	request := &v1beta1.AdmissionRequest{Object: runtime.RawExtension{Raw: pod}, Namespace: "trade"}
	response := wh.inject(&v1beta1.AdmissionReview{Request: request})
	if response.Result != nil && response.Result.Message != "" {
		return nil, errors.New(response.Result.Message)
	}
	return response.Patch, nil
}
