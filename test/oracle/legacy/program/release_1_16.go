package inject

import (
	"bytes"
	"strings"

	"istio.io/istio/pkg/config/mesh"
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
	var out bytes.Buffer
	err = IntoResourceFile(nil, templates, values, "", m, strings.NewReader(q.Manifest), &out, func(string) {})
	return oracleResult{Output: out.String()}, err
}
