package inject

import (
	"bytes"
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"

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
	if !q.Review {
		var out bytes.Buffer
		err = IntoResourceFile(nil, c.Templates, q.Values, "", m, strings.NewReader(q.Manifest), &out, func(string) {})
		return oracleResult{Output: out.String()}, err
	}
	var pod corev1.Pod
	if err := json.Unmarshal([]byte(q.Manifest), &pod); err != nil {
		return oracleResult{}, err
	}
	deploy, typeMeta := kube.GetDeployMetaFromPod(&pod)
	patch, err := injectPod(InjectionParameters{
		pod: &pod, deployMeta: deploy, typeMeta: typeMeta, templates: c.Templates, defaultTemplate: c.DefaultTemplates,
		aliases: c.Aliases, meshConfig: m, valuesConfig: q.Values, proxyEnvs: map[string]string{},
		injectedAnnotations: c.InjectedAnnotations,
	})
	return oracleResult{Patch: patch}, err
}
