import assert from "node:assert/strict";
import { isMap } from "../base/value.ts";
import { parseYaml } from "../yaml/mod.ts";
import { newInjector } from "./injector.ts";
import { injectPod, missingNames } from "./inject_pod.ts";
import { annotation } from "./pod/pod.ts";

const CONFIG = `templates:
  sidecar: |
    {{- if not (hasKey .Values "seen") }}{{ $_ := set .Values "seen" .DeploymentMeta.Name }}{{ end }}
    {{- $_ := set .Values.deep "names" (append .Values.deep.names .DeploymentMeta.Name) }}
    metadata:
      annotations:
        seen: "{{ .Values.seen }} {{ .Values.deep.names }}"
    spec:
      containers:
      - name: istio-proxy
        image: x
`;

Deno.test("injectPod: a template's changes of the values do not reach the next pod", () => {
  const injector = newInjector({
    config: { text: CONFIG, file: "config.yaml" },
    values: { text: "deep: {names: []}", file: "values.yaml" },
    byHand: true,
    env: () => undefined,
    now: () => new Date(0),
  });
  const pod = parseYaml("spec: {containers: [{name: web, image: nginx}]}");
  assert.ok(isMap(pod));
  for (const name of ["first", "second"]) {
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name, namespace: "" };
    assert.equal(annotation(injectPod(pod, owner, injector).pod, "seen"), `${name} [${name}]`);
  }
});

function missing(spec: string): readonly string[] {
  const pod = parseYaml(`spec: ${spec}`);
  return isMap(pod) ? missingNames(pod) : [];
}

Deno.test("missingNames() gives the paths of containers and volumes without a name", () => {
  assert.deepEqual(missing("{containers: [{name: a}, {image: b}], initContainers: [{name: ''}], volumes: [{}]}"), [
    "spec.initContainers[0].name",
    "spec.containers[1].name",
    "spec.volumes[0].name",
  ]);
  assert.deepEqual(missing("{containers: [{name: a}]}"), []);
});
