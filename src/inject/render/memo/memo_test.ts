import assert from "node:assert/strict";
import { fc } from "../../../../test/support/properties.ts";
import { TEMPLATES } from "../../../../test/oracle/inject/own/templates.ts";
import { testShared } from "../../../../test/support/test_when.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Template } from "../../../golang/gotemplate/mod.ts";
import { isMap, mapAt, newMap, type Value, type ValueMap } from "../../../base/value.ts";
import { parseYaml } from "../../../yaml/mod.ts";
import type { ModernConfig } from "../../config/config.ts";
import { type Injector, newInjector } from "../../injector.ts";
import { BUILT_IN } from "../../default/mod.ts";
import { parseValues } from "../../config/values.ts";
import { seenByTemplates } from "../data.ts";
import { renderTemplates } from "../render.ts";
import { memoOf, RenderMemo } from "./memo.ts";

/** Template snippets that use a label: as text, in comparisons and functions, as a key, a keyword or a number. */
const EXPRESSIONS: readonly string[] = [
  'a: {{ index .ObjectMeta.Labels "x" | default .DeploymentMeta.Name | trunc 63 | trimAll "-_." | quote }}',
  'a: {{ index .ObjectMeta.Labels "x" | trunc 5 | quote }}',
  'a: {{ index .ObjectMeta.Labels "x" | trunc 64 | quote }}',
  'a: {{ index .ObjectMeta.Labels "x" | printf "p-%s" | trunc 63 | quote }}',
  'a: {{ index .ObjectMeta.Labels "x" | trimAll "bw" | quote }}',
  'a: {{ index .ObjectMeta.Labels "x" | printf "%s-" | trimAll "-" | quote }}',
  'a: "{{ if eq (index .ObjectMeta.Labels "x") "web" }}is web{{ end }}"',
  'a: "{{ if eq "web" (index .ObjectMeta.Labels "x") }}web{{ end }}"',
  'a: "{{ if ne (index .ObjectMeta.Labels "x") "" }}{{ index .ObjectMeta.Labels "x" | toLower }}{{ end }}"',
  'a: "{{ if eq (index .ObjectMeta.Labels "x") .DeploymentMeta.Name }}same{{ end }}"',
  'a: "{{ if eq (print "k" (index .ObjectMeta.Labels "x")) "kweb" }}same{{ end }}"',
  'a: "{{ if isset .ObjectMeta.Labels "x" }}set{{ end }}"',
  'a: "{{ if contains "a" .DeploymentMeta.Name }}a{{ end }}"',
  'a: "{{ len (index .ObjectMeta.Labels "x") }}"',
  'a: "{{ len .ObjectMeta.Labels }}"',
  'a: {{ index .ObjectMeta.Labels "x" }}',
  'a: [1, {{ index .ObjectMeta.Labels "x" }}]',
  'a: 1e{{ index .ObjectMeta.Labels "x" }}',
  'a: 0x{{ index .ObjectMeta.Labels "x" }}',
  'a: n{{ index .ObjectMeta.Labels "x" }}',
  "a: x/{{ .TypeMeta.Kind }}/{{ .DeploymentMeta.Name }}",
  'a: |-\n  {{ index .ObjectMeta.Labels "x" }}',
  "{{ .DeploymentMeta.Name }}: 1\nweb: 2",
  "a: &{{ .DeploymentMeta.Name }} 1\nb: &web 2\nc: *{{ .DeploymentMeta.Name }}",
  'a: {{ printf "%q %5s" .DeploymentMeta.Name "b" | squote }}',
  'a: "{{ printf "%s.%v" .DeploymentMeta.Name .DeploymentMeta.Namespace }}"',
  'a: {{ printf "%-70s|" .DeploymentMeta.Name | quote }}',
  'a: "{{ range $key, $value := .ObjectMeta.Labels }}{{ $key }}={{ $value }} {{ len $value }},{{ end }}"',
  'a: "{{ range $value := list .DeploymentMeta.Name "b" }}{{ len $value }}{{ $value }}{{ end }}"',
  "a: {{ toJSON .ObjectMeta.Labels | quote }}",
  "a: {{ toJsonMap (mergeMaps .ObjectMeta.Labels) | len }}",
  "a: {{ structToJSON .ObjectMeta | quote }}",
  "a: {{ print .DeploymentMeta | quote }}",
  "a: {{ .DeploymentMeta | print | len }}",
  'a: {{ index (dict "web" 1) .DeploymentMeta.Name | default 5 }}',
  'a: {{ annotation .ObjectMeta (index .ObjectMeta.Labels "x") "none" | quote }}',
  'a: {{ annotation .ObjectMeta "note" .DeploymentMeta.Name | len }}',
  'a: {{ valueOrDefault (index .ObjectMeta.Labels "x") "none" | quote }}',
  'a: {{ ternary "y" "n" (lt (index .ObjectMeta.Labels "x") "m") | quote }}',
  "a: {{ not .DeploymentMeta.Name }}",
  'a: {{ and (index .ObjectMeta.Labels "x") .DeploymentMeta.Name "z" | quote }}',
  '{{ with index .ObjectMeta.Labels "x" }}a: {{ . | squote }}{{ else }}b: 1{{ end }}',
  'a: "{{ range .Spec.Containers }}{{ if eq .Name "web" }}!{{ end }}{{ range .Ports }}{{ .ContainerPort }}{{ end }}{{ end }}"',
  "a: {{ range .Spec.Containers }}{{ range .Ports }}{{ structToJSON . | squote }}{{ end }}{{ end }}",
  '{{ $c := list }}{{ range .Spec.Containers }}{{ if ne .Name "istio-proxy" }}{{ $c = append $c .Name }}{{ end }}{{ end }}' +
  'a: {{ join "," $c | quote }}\nb: {{ first $c | quote }}\nc: {{ index $c 0 | quote }}\nd: {{ len $c }}\ne: {{ last $c }}',
  'a: {{ range .Spec.Containers }}{{ .Name | upper | quote }}{{ end }}\nb: {{ index .ObjectMeta.Labels "x" | quote }}',
  "a: {{ range .Spec.Containers }}{{ structToJSON . | quote }}{{ end }}\nb: {{ .DeploymentMeta.Name | quote }}",
  "a: {{ index .Spec.Containers 0 | print | quote }}",
  "a: {{ len .Spec.Containers }}\nb: {{ applicationPorts .Spec.Containers | quote }}\nc: {{ .DeploymentMeta.Name | quote }}",
  'a: {{ range .Spec.Containers }}{{ join "," .Name | quote }}{{ end }}',
  "a: {{ range .Spec.Containers }}{{ join .Name (list 1 2) | quote }}{{ end }}",
  "a: {{ range .Spec.Containers }}{{ index .Name 0 }}{{ end }}",
  "{{ $c := list }}{{ range .Spec.Containers }}{{ $c = append $c .Name }}{{ end }}a: {{ index $c 0 0 }}",
  'a: {{ set (dict "b" 1) "n" .DeploymentMeta.Name | toJson | quote }}',
  '{{ $d := dict "b" 1 }}{{ with index .ObjectMeta.Labels "x" }}{{ $d = set $d "x" (eq . "web") }}{{ end }}a: {{ $d | toJson | quote }}',
  'a: {{ merge (dict "name" "x") .ObjectMeta.Labels | toJson | quote }}',
  'a: {{ unset .ObjectMeta.Labels "x" | toJson | quote }}',
  'a: {{ set .ObjectMeta.Labels "x" "other" | len }}\nb: {{ index .ObjectMeta.Labels "x" | quote }}',
  'a: {{ with set .Values "seen" .DeploymentMeta.Name }}{{ .seen | quote }}{{ end }}',
  'a: {{ or (index .ObjectMeta.Labels "x") .DeploymentMeta.Name | quote }}\nb: {{ compact (list "" "1") | toJson }}',
];

/** The first snippets in one template, each under its own key. */
const TRICKY = EXPRESSIONS.slice(0, 12).map((line, at) => line.replace(/^a:/, `a${at}:`)).join("\n");

const NAMES = [
  "shop",
  "web",
  "shop-1",
  "a",
  "y",
  "on",
  "off",
  "null",
  "true",
  "e5",
  "abc",
  "ull",
  "x".repeat(63),
  "x".repeat(64),
];
const OTHERS = ["", "1", "1e3", "0x1", "Shop", "-a-", "a.b", "a: b", "kubectl-mesh-hole-000", "kubectl-mesh-hole-001"];
const text = fc.constantFrom(...NAMES, ...OTHERS);
const some = (...keys: string[]) =>
  fc.dictionary(fc.constantFrom(...keys), text, { maxKeys: 4 }).map((map): ValueMap => Object.assign(newMap(), map));
const port = fc.record({ containerPort: fc.constantFrom(80, 81) });
const container = fc.record({
  name: fc.constantFrom("app", "web", "istio-proxy", "on", "Shop", "shop-1"),
  ports: fc.array(port, { maxLength: 2 }),
});

interface Given {
  readonly name: string;
  readonly labels: ValueMap | null;
  readonly annotations: ValueMap | null;
  readonly containers: readonly { readonly name: string; readonly ports: readonly unknown[] }[];
}

const pods: fc.Arbitrary<Given[]> = fc.array(
  fc.record({
    name: text,
    labels: fc.option(some("app", "x", "version")),
    annotations: fc.option(some("sidecar.istio.io/proxyImage", "sidecar.istio.io/logLevel", "note")),
    containers: fc.array(container, { maxLength: 2 }),
  }),
  { minLength: 8, maxLength: 40 },
);

/** The injected pod or the error message for each pod. `injectorFor` returns the injector of a pod. */
function rendered(injectorFor: () => Injector, given: readonly Given[]): string[] {
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

/** Parses the templates once, but copies the values for each rendering, so that no memo applies. */
function withoutMemo(injector: Injector, values: string): () => Injector {
  return () => ({ ...injector, values: parseValues(values, "") });
}

/** Returns a configuration whose template has these lines. */
function configOf(lines: string): string {
  return `templates:\n  sidecar: |\n    ${lines.replaceAll("\n", "\n    ")}\n`;
}

const VALUES = ["cart", "shop", "web", "api", "db", "cart", ...NAMES, ...OTHERS, "cart", "web"];

for (const expression of EXPRESSIONS) {
  Deno.test(`RenderMemo: pods get what they would get alone: ${expression}`, () => {
    const injector = injectorOf(configOf(expression));
    const given = VALUES.flatMap((value, at) =>
      [value, undefined, VALUES[at + 1]].map((x) => ({
        name: value,
        labels: x === undefined ? null : Object.assign(newMap(), { x }),
        annotations: Object.assign(newMap(), { web: "an annotation" }),
        containers: [{ name: ["web", "app", value][at % 3] ?? "", ports: [{ containerPort: 80 + at % 2 }] }],
      }))
    );
    assert.deepEqual(rendered(() => injector, given), rendered(withoutMemo(injector, ""), given));
  });
}

Deno.test("RenderMemo: pods get what they would get alone: labels in all combinations", () => {
  const injector = injectorOf(configOf(TRICKY));
  fc.assert(fc.property(pods, (given) => {
    assert.deepEqual(rendered(() => injector, given), rendered(withoutMemo(injector, ""), given));
  }));
});

/** Checks that the memo does not change the result for any pod. */
function checkPods(config: string, values: string): void {
  const injector = injectorOf(config, values);
  fc.assert(
    fc.property(pods, (given) => {
      assert.deepEqual(rendered(() => injector, given), rendered(withoutMemo(injector, values), given));
    }),
    { numRuns: 20 },
  );
}

Deno.test("RenderMemo: pods get what they would get alone: the built-in template", () => {
  checkPods(BUILT_IN.config, BUILT_IN.values);
});

for (const [name, template] of Object.entries(TEMPLATES)) {
  Deno.test(`RenderMemo: pods get what they would get alone: the template ${name}`, () => {
    checkPods(JSON.stringify({ templates: { sidecar: template } }), BUILT_IN.values);
  });
}

testShared("cases/inject/settings", "RenderMemo: pods get what they would get alone: Istio's templates", (folder) => {
  const [config = "", values = ""] = ["config", "values"].map((name) =>
    Deno.readTextFileSync(`${folder}/${name}.yaml`)
  );
  checkPods(config, values);
});

Deno.test("RenderMemo: the built-in template is rendered once for pods that differ in names", () => {
  const injector = injectorOf(BUILT_IN.config, BUILT_IN.values);
  const made = VALUES.slice(0, 5).flatMap((name) =>
    rendered(() => injector, [{ name, labels: null, annotations: null, containers: [{ name, ports: [] }] }])
  );
  assert.equal(new Set(made).size, 5);
  const { config, values, mesh, ...rest } = injector;
  assert.ok(config.form === "modern");
  const setting = [
    mesh,
    values,
    rest.revision,
    rest.nativeSidecars,
    rest.compliancePolicy,
    rest.proxyUid,
    rest.proxyGid,
  ];
  const pod = parseYaml(`{metadata: {generateName: other-}, spec: {containers: [{name: other, ports: []}]}}`);
  assert.ok(isMap(pod));
  const owner = { apiVersion: "apps/v1", kind: "Deployment", namespace: "ns", name: "other" };
  const memo = memoOf(templateOf(injector, "sidecar"), setting, true);
  assert.notEqual(memo?.find(seenByTemplates(pod, owner)), undefined);
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
  const template = modern(injector).templates.get(name)?.();
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
