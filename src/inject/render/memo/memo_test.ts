import assert from "node:assert/strict";
import { fc } from "../../../../test/support/properties.ts";
import { needsShared, SHARED, testWhen } from "../../../../test/support/test_when.ts";
import { messageOf } from "../../../core/errors.ts";
import type { Template } from "../../../core/gotemplate/mod.ts";
import { isMap, mapAt, newMap, type Value, type ValueMap } from "../../../core/value.ts";
import { parseYaml } from "../../../core/yaml/mod.ts";
import type { ModernConfig } from "../../config/config.ts";
import { type Injector, newInjector } from "../../config/injector.ts";
import { parseValues } from "../../config/values.ts";
import { seenByTemplates } from "../data.ts";
import { renderTemplates } from "../render.ts";
import { memoOf, RenderMemo } from "./memo.ts";

/** Names are written as they are, compared, cut, counted, keys, keywords, numbers, and looked up. */
const TRICKY = `
templates:
  sidecar: |
    {{- $name := .DeploymentMeta.Name }}
    metadata:
      labels:
        name: {{ index .ObjectMeta.Labels "app" | default $name | trunc 63 | trimAll "-_." | quote }}
        short: {{ index .ObjectMeta.Labels "short" | trunc 5 | quote }}
        {{- if eq (index .ObjectMeta.Labels "mode") "off" }}
        mode: "is off"
        {{- else if ne (index .ObjectMeta.Labels "mode") "" }}
        mode: {{ index .ObjectMeta.Labels "mode" | toLower }}
        {{- end }}
        {{- if isset .ObjectMeta.Labels "size" }}
        size: n{{ index .ObjectMeta.Labels "size" }}
        count: "{{ len (index .ObjectMeta.Labels "size") }}"
        {{- end }}
        {{- range $key, $value := .ObjectMeta.Annotations }}
        {{ $key }}: {{ $value | quote }}
        {{- end }}
        {{- with index .ObjectMeta.Labels "key" }}
        {{ . }}: "a key"
        {{- end }}
    spec:
      containers:
      - name: istio-proxy
        bare: {{ index .ObjectMeta.Labels "bare" }}
        digits: 1e{{ index .ObjectMeta.Labels "bare" }}
        joined: '{{ printf "%s.%v" $name .DeploymentMeta.Namespace }}'
        owner: x/{{ .TypeMeta.Kind }}/{{ $name }}
        all: {{ toJSON .ObjectMeta.Labels | quote }}
        ports: '{{ range .Spec.Containers }}{{ range .Ports }}{{ structToJSON . }}{{ end }}{{ end }}'
        {{- if contains "a" $name }}
        has: a
        {{- end }}
`;

/** The same without what every label decides. */
const PLAIN = TRICKY.replace(/.*toJSON.*\n/, "").replace(/.*range \$key[^]*?end }}\n/, "");

const NAMES = ["shop", "web", "shop-1", "a", "y", "on", "off", "null", "true", "e5", "x".repeat(63), "x".repeat(64)];
const OTHERS = ["", "1", "1e3", "0x1", "Shop", "-a-", "a.b", "a: b", "kubectl-mesh-hole-000", "kubectl-mesh-hole-001"];
const text = fc.constantFrom(...NAMES, ...OTHERS);
const some = (...keys: string[]) =>
  fc.dictionary(fc.constantFrom(...keys), text, { maxKeys: 4 }).map((map): ValueMap => Object.assign(newMap(), map));
const port = fc.record({ containerPort: fc.constantFrom(80, 81) });
const container = fc.record({ name: fc.constantFrom("app", "istio-proxy"), ports: fc.array(port, { maxLength: 2 }) });

const pods = fc.array(
  fc.record({
    name: text,
    labels: fc.option(some("app", "short", "mode", "size", "key", "bare", "version")),
    annotations: fc.option(some("sidecar.istio.io/proxyImage", "sidecar.istio.io/logLevel", "note")),
    containers: fc.array(container, { maxLength: 2 }),
  }),
  { minLength: 8, maxLength: 40 },
);

/** What a template makes of each pod, or its failure; `injectorFor` each pod. */
function rendered(injectorFor: () => Injector, given: typeof pods extends fc.Arbitrary<infer T> ? T : never): string[] {
  return given.map(({ name, labels, annotations, containers }) => {
    const { config, ...injector } = injectorFor();
    assert.ok(config.form === "modern");
    const pod = parseYaml(JSON.stringify({ metadata: { labels, annotations }, spec: { containers } }));
    assert.ok(isMap(pod));
    const owner = { apiVersion: "apps/v1", kind: "Deployment", namespace: "ns", name };
    try {
      return JSON.stringify(renderTemplates(config, ["sidecar"], { ...injector, seen: seenByTemplates(pod, owner) }));
    } catch (error) {
      return messageOf(error);
    }
  });
}

function injectorOf(config: string, values = ""): Injector {
  const source = (text: string) => ({ text, file: "file" });
  return newInjector({
    config: source(config),
    values: source(values),
    byHand: true,
    env: () => undefined,
    now: () => new Date(0),
  });
}

/** The templates are parsed once; each rendering has another object of values, so there is no memo. */
function withoutMemo(injector: Injector, values: string): () => Injector {
  return () => ({ ...injector, values: parseValues(values, "") });
}

for (
  const [name, config] of [["all that names can do", TRICKY], ["without what every label decides", PLAIN]] as const
) {
  Deno.test(`RenderMemo: pods get what they would get alone: ${name}`, () => {
    const injector = injectorOf(config);
    fc.assert(fc.property(pods, (given) => {
      assert.deepEqual(rendered(() => injector, given), rendered(withoutMemo(injector, ""), given));
    }));
  });
}

const missing = needsShared("cases/inject/settings/config.yaml");
testWhen(missing, "RenderMemo: pods get what they would get alone: Istio's templates", () => {
  const read = (name: string) => Deno.readTextFileSync(`${SHARED}/cases/inject/settings/${name}`);
  const injector = injectorOf(read("config.yaml"), read("values.yaml"));
  fc.assert(
    fc.property(pods, (given) => {
      assert.deepEqual(rendered(() => injector, given), rendered(withoutMemo(injector, read("values.yaml")), given));
    }),
    { numRuns: 20 },
  );
});

const COUNTED = `
templates:
  sidecar: |
    metadata: {labels: {app: "{{ .DeploymentMeta.Name }}"}}
    spec: {containers: [{name: istio-proxy, image: "{{ annotation .ObjectMeta "image" "x" }}"}]}
  random: |
    metadata: {labels: {app: {{ randAlpha 5 | quote }}}}
`;

function modern(injector: Injector): ModernConfig {
  assert.ok(injector.config.form === "modern");
  return injector.config;
}

function templateOf(injector: Injector, name: string): Template {
  const template = modern(injector).templates.get(name);
  assert.ok(template !== undefined);
  return template;
}

Deno.test("RenderMemo: a template is rendered for a few pods, and again only for what it reads", () => {
  const template = templateOf(injectorOf(COUNTED), "sidecar");
  const memo = new RenderMemo();
  let renderings = 0;
  const image = (input: ValueMap) => mapAt(mapAt(input, "metadata"), "annotations")["image"] ?? "x";
  const value = (input: ValueMap): ValueMap =>
    Object.assign(newMap(), { app: mapAt(input, "owner")["name"], image: image(input) });
  const rendering = {
    text: (_: Template, input: ValueMap) => (renderings++, JSON.stringify(value(input))),
    value: (text: string): Value => parseYaml(text),
  };
  const ask = (name: string, annotations: Record<string, string> = {}) => {
    const owner = { apiVersion: "apps/v1", kind: "Deployment", namespace: "", name };
    const input = seenByTemplates(
      Object.assign(newMap(), { metadata: Object.assign(newMap(), { annotations }) }),
      owner,
    );
    const known = memo.find(input);
    if (known === undefined) memo.learn(template, input, rendering, value(input));
    else assert.deepEqual({ ...known }, { ...value(input) });
    return known !== undefined;
  };
  assert.deepEqual(["a", "b", "c", "d", "e", "f"].map((name) => ask(name)), [false, false, false, false, true, true]);
  assert.equal(ask("g", { other: "1" }), true);
  assert.deepEqual([ask("g", { image: "1" }), ask("h", { image: "1" }), ask("i", { image: "2" })], [
    false,
    true,
    false,
  ]);
  assert.equal(renderings, 3);
  for (let more = 0; more < 100; more++) ask("j", { image: `more ${more}` });
  assert.ok(renderings < 25, "pods that have nothing in common are not recorded for ever");
});

Deno.test("memoOf: none where a function does not depend on its arguments alone; one for each setting", () => {
  const injector = injectorOf(COUNTED);
  assert.equal(memoOf(templateOf(injector, "random"), []), undefined);
  const template = templateOf(injector, "sidecar");
  const values = newMap();
  assert.equal(memoOf(template, [values, ""]), memoOf(template, [values, ""]));
  assert.notEqual(memoOf(template, [values, ""]), memoOf(template, [values, "canary"]));
  assert.notEqual(memoOf(template, [values, ""]), memoOf(template, [newMap(), ""]));
});
