import assert from "node:assert/strict";
import { parse } from "../../../golang/gotemplate/mod.ts";
import { parseMeshConfig } from "../../../istio/mod.ts";
import { isMap, newMap, type ValueMap } from "../../../base/value.ts";
import { parseYaml } from "../../../yaml/mod.ts";
import { seenByTemplates, templateData } from "../data.ts";
import { templateFunctions } from "./mod.ts";

const MESH = `defaultConfig: {drainDuration: 90s, proxyMetadata: {A: "<b>"}}
extensionProviders:
- name: o
  opentelemetry: {service: a.b, port: 1, serviceAttributeEnrichment: OTEL_SEMANTIC_CONVENTIONS}
`;

const POD = mapOf(`metadata:
  labels: {app: shop}
  annotations: {a: b, empty: ""}
spec:
  containers:
  - name: app
    image: registry:5000/x/app:1@sha256:ab
    ports: [{containerPort: 80}, {containerPort: 81, protocol: UDP}, {containerPort: 82, protocol: TCP}]
  - {name: istio-proxy, ports: [{containerPort: 15090}]}
`);

function mapOf(text: string): ValueMap {
  const value = parseYaml(text);
  assert.ok(isMap(value));
  return value;
}

function render(expression: string, pod: ValueMap = POD): string {
  const world = { env: (name: string) => name === "SET" ? "yes" : undefined, now: () => new Date(0) };
  const data = templateData({
    minor: 31,
    seen: seenByTemplates(pod, { apiVersion: "apps/v1", kind: "Deployment", name: "shop", namespace: "prod" }),
    mesh: parseMeshConfig(MESH, ""),
    values: newMap(),
    revision: "",
    nativeSidecars: false,
    compliancePolicy: "",
    proxyUid: 1337,
    proxyGid: 1337,
  });
  return parse("t", `{{ ${expression} }}`, { funcs: templateFunctions(world) }).render(data);
}

/** Expressions, with the results of Istio's own functions. */
const GIVES: readonly (readonly [string, string])[] = [
  ["contains `b` `abc`", "true"],
  ["contains `abc` `b`", "false"],
  ["toLower `ABC`", "abc"],
  ["directory `/a/b`", "/a/"],
  ["directory `a`", ""],
  ["indent 2 `a\nb`", "a\n  b"],
  ["nindent 2 `a\nb`", "\n  a\n  b"],
  ["appendMultusNetwork `` `d/n`", "d/n"],
  ["appendMultusNetwork `a` `d/n`", "a, d/n"],
  ["appendMultusNetwork `a, d/n` `d/n`", "a, d/n"],
  ['appendMultusNetwork `[{"name":"x"}]` `d/n`', '[{"name":"x"}, {"name": "n", "namespace": "d"}]'],
  [
    'appendMultusNetwork `[{"name":"n","namespace":"d"}]` `d/n`',
    '[{"name":"n","namespace":"d"}]',
  ],
  ["appendMultusNetwork `[x]` `d/n`", "[x]"],
  ["annotation .ObjectMeta `a` 1", "b"],
  ["annotation .ObjectMeta `empty` 1", ""],
  ["annotation .ObjectMeta `missing` 15020", "15020"],
  ["annotation .ObjectMeta `missing` nil", "<nil>"],
  ["isset .ObjectMeta.Annotations `empty`", "true"],
  ["isset .ObjectMeta.Annotations `missing`", "false"],
  ["valueOrDefault `` `x`", "x"],
  ["valueOrDefault nil `x`", "x"],
  ["valueOrDefault 0 `x`", "0"],
  ["valueOrDefault false `x`", "false"],
  ["excludeInboundPort 15020 `1, 2`", "1,2,15020"],
  ["excludeInboundPort `0` `1, 2`", "1, 2"],
  ["excludeInboundPort 1 `1, 2`", "1, 2"],
  ["excludeInboundPort 2 `1, 2`", "1,2,2"],
  ["includeInboundPorts .Spec.Containers", "80,82,15090"],
  ["applicationPorts .Spec.Containers", "80,82"],
  ["formatDuration .ProxyConfig.DrainDuration", "1m30s"],
  ["toJSON .ObjectMeta.Labels", '{"app":"shop"}'],
  [
    "structToJSON (index .Spec.Containers 1)",
    '{"name":"istio-proxy","ports":[{"containerPort":15090}],"resources":{}}',
  ],
  ["structToJSON nil", "{}"],
  ["protoToJSON .ProxyConfig", '{"drainDuration":"90s","proxyMetadata":{"A":"\\u003cb\\u003e"}}'],
  ["fromJSON `[1,true]`", "[1 true]"],
  ["fromJSON `x`", "{}"],
  ["toYaml (dict `b` `yes` `a` 1)", 'a: 1\nb: "yes"\n'],
  ["toJson (omitNil (dict `a` (dict `b` nil) `c` (list nil 1) `d` (dict)))", '{"c":[1],"d":{}}'],
  ["toJsonMap (strdict `a` `1`) (strdict `a` `<` `b`)", '{"a":"\\u003c","b":""}'],
  ["mergeMaps .ObjectMeta.Labels (strdict `b` `c`)", "map[app:shop b:c]"],
  ["omit .ObjectMeta.Annotations `a`", "map[empty:]"],
  ["env `SET` `x`", "yes"],
  ["env `UNSET` `x`", "x"],
  [".DeploymentMeta", "prod/shop"],
  [
    "otelResourceAttributes .MeshConfig .ObjectMeta.Annotations .ObjectMeta.Labels `prod` .Spec.Containers",
    "service.namespace=prod,service.instance.id=prod.$(POD_NAME).app",
  ],
  [
    "otelResourceAttributes .MeshConfig (dict `resource.opentelemetry.io/service.version` `v9`) .ObjectMeta.Labels `` (list)",
    "service.version=v9",
  ],
  [
    "otelResourceAttributes .MeshConfig (dict) (dict) `prod` (list (index .Spec.Containers 0))",
    "service.namespace=prod,service.version=1@sha256:ab,service.instance.id=prod.$(POD_NAME).app",
  ],
];

for (const [expression, wanted] of GIVES) {
  Deno.test(`templateFunctions: ${JSON.stringify(expression)} gives ${JSON.stringify(wanted)}`, () => {
    assert.equal(render(expression), wanted);
  });
}

const FAILS = [
  "strdict `c` 1",
  "omit .Values `a`",
  "isset .Values `a`",
  "toJSON .Values",
  "annotation .Spec `a` 1",
  "annotation .ObjectMeta 1 1",
  "excludeInboundPort 1",
  "protoToJSON .Spec",
  "fail `no`",
];

for (const expression of FAILS) {
  Deno.test(`templateFunctions: ${JSON.stringify(expression)} is an error`, () => {
    assert.throws(() => render(expression), /executing "t"/);
  });
}
