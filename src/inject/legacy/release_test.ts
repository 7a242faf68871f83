import assert from "node:assert/strict";
import { parseValues } from "../config/values.ts";
import { type Evidence, releaseOf } from "./release.ts";

const NOTHING: Evidence = {
  template: "containers: []",
  brackets: false,
  injectedAnnotations: {},
  values: undefined,
  mesh: "",
};
const OLD_MESH = "mixerCheckServer: istio-policy:15004\n";

function tagged(tag: string): Partial<Evidence> {
  return { values: parseValues(`global: {tag: ${tag}}`, "") };
}

const CASES: readonly (readonly [string, Partial<Evidence>, number])[] = [
  ["nothing that is old", {}, 8],
  ["a template with brackets", { brackets: true }, 1],
  ["a template with brackets and images of 1.0", { brackets: true, template: 'image: "istio/proxyv2:1.0.5"' }, 0],
  ["a mesh with Mixer and no values", { mesh: OLD_MESH }, 1],
  ["a mesh with Mixer inside a ConfigMap", { mesh: `data:\n  mesh: |-\n    ${OLD_MESH}` }, 1],
  ["a mesh with Mixer, and values", { mesh: OLD_MESH, ...tagged("latest") }, 7],
  ["a mesh with Mixer, and .Values", { mesh: OLD_MESH, template: "image: {{ .Values.image }}" }, 7],
  ["concurrency as a number", { template: "{{ if gt .ProxyConfig.Concurrency 0 }}" }, 5],
  ["concurrency as a wrapper", { template: "{{ if gt .ProxyConfig.Concurrency.GetValue 0 }}" }, 8],
  ["images of 1.4", tagged("1.4.3"), 4],
  ["images of 1.4 by their tag in the template", { template: "image: docker.io/istio/proxyv2:1.4.3" }, 4],
  ["daily images of 1.3", tagged("release-1.3-latest-daily"), 3],
  ["images of 1.10, which is none of these", tagged('"1.10.0"'), 8],
  ["images of 1.4 and a function of 1.5", { ...tagged("1.4.3"), template: "{{ structToJSON . }}" }, 5],
  ["images of 1.4 and podRedirectAnnot", { ...tagged("1.2.0"), template: "podRedirectAnnot: {}" }, 3],
  ["images of 1.8 and a mesh with Mixer", { ...tagged("1.8.1"), mesh: OLD_MESH }, 8],
  ["a function of 1.8 and a mesh with Mixer", { mesh: OLD_MESH, template: "{{ appendMultusNetwork `a` `b` }}" }, 8],
  ["injectedAnnotations and images of 1.2", { ...tagged("1.2.0"), injectedAnnotations: { a: "b" } }, 4],
];

for (const [name, evidence, minor] of CASES) {
  Deno.test(`releaseOf: ${name}: 1.${minor}`, () => {
    const release = releaseOf({ ...NOTHING, ...evidence });
    assert.equal(release.minor, minor);
    assert.notEqual(release.because, "");
  });
}

Deno.test("releaseOf gives its evidence", () => {
  assert.deepEqual(releaseOf({ ...NOTHING, ...tagged("mine"), named: 6 }), {
    minor: 6,
    because: "--istio-version names it",
  });
  assert.match(releaseOf({ ...NOTHING, brackets: true }).because, /"\[\["/);
  assert.match(releaseOf({ ...NOTHING, ...tagged("1.4.3") }).because, /tag/);
  assert.match(releaseOf({ ...NOTHING, mesh: OLD_MESH, values: {} }).because, /mesh configuration/);
});
