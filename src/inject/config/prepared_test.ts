import assert from "node:assert/strict";
import { BUILT_IN } from "../default/mod.ts";
import { injectPod } from "../pod/inject_pod.ts";
import { type Injector, newInjector } from "./injector.ts";
import { preparedText } from "./prepared.ts";
import { unknownKeys } from "./unknown_keys.ts";

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

function texts(config: string, values: string, mesh = "trustDomain: t") {
  return {
    config: { text: config, file: "c.yaml" },
    values: { text: values, file: "v.yaml" },
    mesh: { text: mesh, file: "m.yaml" },
  };
}

function textOf(config: string, values: string, mesh?: string): string | undefined {
  return preparedText(injectorOf(config, values), texts(config, values, mesh));
}

function injectorOf(config: string, values: string, prepared?: string): Injector {
  return newInjector({
    ...texts(config, values),
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
  const rows = [[CONFIG, "{image: i, global: {hubb: x}, list: [1, 2.5, {__proto__: x}]}"], [
    BUILT_IN.config,
    BUILT_IN.values,
  ]] as const;
  for (const [config, values] of rows) {
    const first = injectorOf(config, values);
    const text = textOf(config, values);
    const second = injectorOf(config, values, text);
    assert.deepEqual(injected(second), injected(first));
    assert.deepEqual([second.values, second.mesh, second.notes], [first.values, first.mesh, first.notes]);
    assert.equal(preparedText(second, texts(config, values)), text);
    const given = texts(config, values);
    assert.deepEqual(unknownKeys(given, second, given), unknownKeys(given, first, given));
  }
});

Deno.test("preparedText: a template that is not a default one is read from the configuration", () => {
  const injectors = [undefined, textOf(CONFIG, "image: i")].map((text) => injectorOf(CONFIG, "image: i", text));
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

Deno.test("preparedText: an old form, no values, a library, and numbers that JSON does not hold are not prepared", () => {
  const large = CONFIG.replace("__proto__: a", "a: 9007199254740993");
  const old = "policy: enabled\ntemplate: 'containers: [{name: a}]'";
  const bcrypt = CONFIG.replace("add 1 0x10", 'bcrypt "a"');
  for (const [config, values] of [[CONFIG, ""], [bcrypt, "a: 1"], [large, "a: 1"], [old, "a: 1"]] as const) {
    assert.equal(textOf(config, values), undefined);
  }
});

Deno.test("preparedText: what may be a secret is not prepared; names of secrets are", () => {
  const secret = "{global: {tracer: {lightstep: {accessToken: abc}}}}";
  assert.equal(textOf(CONFIG, secret), undefined);
  const names =
    "{global: {imagePullSecrets: [mine], sds: {token: {aud: istio-ca}}, tracer: {lightstep: {accessToken: ''}}}}";
  assert.match(textOf(CONFIG, names) ?? "", /"imagePullSecrets":\["mine"\]/);
  for (const mesh of ["", "trustDomain: t # as before"]) assert.notEqual(textOf(CONFIG, "a: 1", mesh), undefined);
  for (const [values, mesh] of [["a: 1\n# the old Password: abc"], ["a: 1", "#token: abc"]] as const) {
    assert.equal(textOf(CONFIG, values, mesh), undefined);
  }
});
