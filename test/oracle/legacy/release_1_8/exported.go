package inject

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"

	meshconfig "istio.io/api/mesh/v1alpha1"
	"istio.io/istio/pkg/kube"
)

// OracleTemplate is the template of a configuration.
func OracleTemplate(config string) (string, error) {
	c, err := unmarshalConfig([]byte(config))
	if err != nil {
		return "", err
	}
	return c.Template, nil
}

// OracleReview is the webhook's patch for a pod.
func OracleReview(config, values string, mesh *meshconfig.MeshConfig, pod []byte) ([]byte, error) {
	c, err := unmarshalConfig([]byte(config))
	if err != nil {
		return nil, err
	}
	wh := &Webhook{
		Config: c, sidecarTemplateVersion: sidecarTemplateVersionHash(c.Template), meshConfig: mesh, valuesConfig: values,
	}
	request := &kube.AdmissionRequest{Object: runtime.RawExtension{Raw: pod}, Namespace: "trade"}
	response := wh.inject(&kube.AdmissionReview{Request: request}, "")
	if response.Result != nil && response.Result.Message != "" {
		return nil, errors.New(response.Result.Message)
	}
	return response.Patch, nil
}
