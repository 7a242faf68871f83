package inject

import (
	"bytes"
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"istio.io/api/annotation"
	meshconfig "istio.io/api/mesh/v1alpha1"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/kube"
)

func oracleAnswer(q oracleQuestion) (oracleResult, error) {
	m, err := mesh.ApplyMeshConfigDefaults(q.Mesh)
	if err != nil {
		return oracleResult{}, err
	}
	c, err := UnmarshalConfig([]byte(q.Config))
	if err != nil {
		return oracleResult{}, err
	}
	templates, err := ParseTemplates(c.RawTemplates)
	if err != nil {
		return oracleResult{}, err
	}
	values, err := NewValuesConfig(q.Values)
	if err != nil {
		return oracleResult{}, err
	}
	if !q.Review {
		var out bytes.Buffer
		err = IntoResourceFile(nil, templates, values, "", m, strings.NewReader(q.Manifest), &out, func(string) {})
		return oracleResult{Output: out.String()}, err
	}
	var pod corev1.Pod
	if err := json.Unmarshal([]byte(q.Manifest), &pod); err != nil {
		return oracleResult{}, err
	}
	proxy, err := oracleProxyConfig(&pod, m)
	if err != nil {
		return oracleResult{}, err
	}
	deploy, typeMeta := kube.GetDeployMetaFromPod(&pod)
	patch, err := injectPod(InjectionParameters{
		pod: &pod, deployMeta: deploy, typeMeta: typeMeta, templates: templates, defaultTemplate: c.DefaultTemplates,
		aliases: c.Aliases, meshConfig: m, proxyConfig: proxy, valuesConfig: values, proxyEnvs: map[string]string{},
		injectedAnnotations: c.InjectedAnnotations,
	})
	return oracleResult{Patch: patch}, err
}

// oracleProxyConfig is what the control plane finds without resources of the kind ProxyConfig.
func oracleProxyConfig(pod *corev1.Pod, m *meshconfig.MeshConfig) (*meshconfig.ProxyConfig, error) {
	own, found := pod.Annotations[annotation.ProxyConfig.Name]
	if !found {
		return m.GetDefaultConfig(), nil
	}
	merged, err := mesh.ApplyProxyConfig(own, m)
	return merged.GetDefaultConfig(), err
}
