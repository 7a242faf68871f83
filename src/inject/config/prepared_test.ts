import assert from "node:assert/strict";
import { BUILT_IN } from "../default/mod.ts";
import { injectPod } from "../pod/inject_pod.ts";
import { type Injector, newInjector } from "./injector.ts";
import { preparedText } from "./prepared.ts";

const CONFIG = `
policy: disabled
alwaysInjectSelector: [{matchLabels: {__proto__: a}}]
injectedAnnotations: {a: b}
defaultTemplates: [both]
aliases: {both: [one, two]}
templates:
  one: |
    spec: {containers: [{name: istio-proxy, image: "{{ .Values.image }}:{{ add 1 0x10 }}{{ printf "%c" 'a' }}"}]}
  two: |
    {{ define "x" }}{{ range $i, $e := .Spec.Containers }}{{ if $i }}{{ $e.Name }}{{ end }}{{ end }}{{ end }}
    metadata: {annotations: {x: "{{ template "x" . }}", mesh: {{ .MeshConfig.TrustDomain }}}}
  other: |
    metadata: {labels: {other: "{{ .Revision }}"}}
`;

function injectorOf(config: string, values: string, prepared?: string): Injector {
  return newInjector({
    config: { text: config, file: "c.yaml" },
    values: { text: values, file: "v.yaml" },
    mesh: { text: "trustDomain: t", file: "m.yaml" },
    prepared,
    byHand: true,
    env: () => undefined,
    now: () => new Date(0),
  });
}

function injected(injector: Injector, annotations: Record<string, string> = {}) {
  const containers = [{ name: "a", image: "i" }, { name: "b", image: "i" }];
  const { pod } = injectPod(
    { metadata: { annotations }, spec: { containers } },
    { kind: "Pod", apiVersion: "v1", namespace: "n", name: "p" },
    injector,
  );
  return pod;
}

Deno.test("preparedText: an injector that is made of it is like the one that wrote it", () => {
  const rows = [[CONFIG, "{image: i, list: [1, 2.5, {__proto__: x}]}"], [BUILT_IN.config, BUILT_IN.values]] as const;
  for (const [config, values] of rows) {
    const first = injectorOf(config, values);
    const text = preparedText(first);
    const second = injectorOf(config, values, text);
    assert.deepEqual(injected(second), injected(first));
    assert.deepEqual([second.values, second.mesh, second.notes], [first.values, first.mesh, first.notes]);
    assert.equal(preparedText(second), text);
  }
});

Deno.test("preparedText: a template that is not a default one is read from the configuration", () => {
  const injectors = [undefined, preparedText(injectorOf(CONFIG, "image: i"))].map((text) =>
    injectorOf(CONFIG, "image: i", text)
  );
  for (const name of ["other", "none", "both"]) {
    const [first, second] = injectors.map((injector) => {
      try {
        return injected(injector, { "inject.istio.io/templates": name });
      } catch (error) {
        return String(error);
      }
    });
    assert.deepEqual(second, first);
  }
});

Deno.test("preparedText: an old form, no values, and numbers that JSON does not hold are not prepared", () => {
  const large = CONFIG.replace("__proto__: a", "a: 9007199254740993");
  const old = "policy: enabled\ntemplate: 'containers: [{name: a}]'";
  for (const [config, values] of [[CONFIG, ""], [large, "a: 1"], [old, "a: 1"]] as const) {
    assert.equal(preparedText(injectorOf(config, values)), undefined);
  }
});

Deno.test("preparedText: what may be a secret is not prepared; names of secrets are", () => {
  const secret = "{global: {tracer: {lightstep: {accessToken: abc}}}}";
  assert.equal(preparedText(injectorOf(CONFIG, secret)), undefined);
  const names =
    "{global: {imagePullSecrets: [mine], sds: {token: {aud: istio-ca}}, tracer: {lightstep: {accessToken: ''}}}}";
  assert.match(preparedText(injectorOf(CONFIG, names)) ?? "", /"imagePullSecrets":\["mine"\]/);
});
