import assert from "node:assert/strict";
import { goCases } from "./go_cases.ts";

const SOURCE = `package inject

func TestInjection(t *testing.T) {
	type testCase struct {
		in string
	}
	cases := []testCase{
		{
			in:   "hello.yaml",
			want: "hello.yaml.cni.injected",
			setFlags: []string{
				"components.cni.enabled=true",
				\`values.global.proxy.includeIPRanges=127.0.0.1/24,10.96.0.1/24\`,
			},
			mesh: func(m *meshapi.MeshConfig) {
				m.DefaultConfig.DrainDuration = durationpb.New(time.Second * 23)
				m.DefaultConfig.InterceptionMode = meshapi.ProxyConfig_TPROXY
			},
		},
		{
			// A comment.
			in:            "bad.yaml",
			expectedError: "includeipranges",
			setup: func(t test.Failer) {
				test.SetForTest(t, &features.EnableNativeSidecars, features.NativeSidecarModeDisabled)
				test.Unknown()
			},
		},
	}
	alreadyTested := sets.New[string]()
}
`;

Deno.test("goCases() reads the table, and takes the other files of the folder", () => {
  const files = ["bad.yaml", "hello.yaml", "hello.yaml.cni.injected", "x.iop.yaml"];
  const [first, second, third, ...others] = goCases(SOURCE, files);
  assert.deepEqual({ ...first, mesh: JSON.parse(JSON.stringify(first?.mesh)) }, {
    input: "hello.yaml",
    want: "hello.yaml.cni.injected",
    flags: ["components.cni.enabled=true", "values.global.proxy.includeIPRanges=127.0.0.1/24,10.96.0.1/24"],
    operator: undefined,
    mesh: { defaultConfig: { drainDuration: "23s", interceptionMode: "TPROXY" } },
    error: undefined,
    setup: {},
    unread: [],
  });
  assert.deepEqual([second?.want, second?.error, second?.setup, second?.unread], [
    "bad.yaml.injected",
    "includeipranges",
    { native: false },
    ["test.Unknown()"],
  ]);
  assert.deepEqual([third?.input, third?.want, others.length], ["hello.yaml", "hello.yaml.injected", 0]);
});
