import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { parseConfig, textBesideConfig } from "./config.ts";
import { templateFunctions } from "../render/functions/mod.ts";

const functions = () => templateFunctions({ env: () => undefined, now: () => new Date(0) });
const read = (text: string, whenAsked = false) => parseConfig(text, "config.yaml", { functions, whenAsked });

const MODERN = `policy: disabled
defaultTemplates: [a]
aliases: {both: [a, b]}
template: "{{ Template_Version_And_Istio_Version_Mismatched_Check_Installation }}"
templates:
  a: "spec: {}"
  b: "spec: {}"
`;

Deno.test("parseConfig: templates decide, not the template for old programs", () => {
  const config = read(MODERN);
  assert.equal(config.form, "modern");
  if (config.form !== "modern") return;
  assert.deepEqual([...config.templates.keys()], ["a", "b"]);
  assert.deepEqual(config.defaultTemplates, ["a"]);
  assert.deepEqual(config.aliases.get("both"), ["a", "b"]);
  assert.equal(config.policy, "disabled");
});

Deno.test("parseConfig: the ConfigMap holds the configuration and the values", () => {
  const indented = MODERN.replaceAll(/^/gm, "    ");
  const map = `kind: ConfigMap\napiVersion: v1\ndata:\n  config: |\n${indented}\n  values: '{"a": 1}'\n`;
  assert.equal(read(map).form, "modern");
  assert.equal(textBesideConfig(map, "x", "values"), '{"a": 1}');
});

const LEGACY: readonly [string, string, readonly [string, string]][] = [
  ["1.1", "policy: enabled\ntemplate: |-\n  containers:\n  - name: [[ .DeploymentMeta.Name ]]\n", ["[[", "]]"]],
  ["1.8", "policy: enabled\ntemplate: |-\n  containers:\n  - name: {{ .DeploymentMeta.Name }}\n", ["{{", "}}"]],
  ["1.1, bare", "containers:\n- name: [[ .DeploymentMeta.Name ]]\n", ["[[", "]]"]],
];

for (const [name, text, delimiters] of LEGACY) {
  Deno.test(`parseConfig: a configuration of ${name} is a legacy one`, () => {
    const config = read(text);
    assert.equal(config.form, "legacy");
    if (config.form === "legacy") assert.deepEqual(config.delimiters, delimiters);
  });
}

Deno.test("parseConfig: a text without the key templates is a template", () => {
  const config = read("spec:\n  containers:\n  - name: istio-proxy\n    image: {{ .ProxyImage }}\n");
  assert.equal(config.form, "modern");
});

const REFUSED: readonly [string, string, RegExp][] = [
  ["a manifest", "kind: Deployment\nspec: {}\n", /^A Deployment is not an injector configuration/],
  [
    "a manifest of several documents",
    "# the shop\n---\nkind: Service\nspec: {}\n---\nkind: Deployment\nspec: {}\n",
    /^A Service is not an injector configuration/,
  ],
  ["two ConfigMaps", "kind: ConfigMap\n---\nkind: ConfigMap\n", /more than one document/],
  ["several documents without a kind", "policy: enabled\n---\npolicy: enabled\n", /more than one document/],
  ["an empty text", "", /^An empty file is not an injector configuration/],
  ["a ConfigMap without config", "kind: ConfigMap\ndata: {mesh: x}\n", /no key "config"/],
  [
    "an unknown function in an unused template",
    'templates: {a: "", b: "{{ nope }}"}',
    /template "b" cannot be parsed: .*"nope" not defined/,
  ],
  [
    "a wrong type",
    'templates: {a: ""}\ndefaultTemplates: a\n',
    /"defaultTemplates" in the injector configuration must be a list/,
  ],
];

for (const [name, text, message] of REFUSED) {
  Deno.test(`parseConfig: rejects ${name}`, () => {
    assert.throws(() => read(text), (error) => error instanceof MeshError && message.test(error.message));
  });
}

Deno.test("parseConfig: templates that are parsed when asked for are checked then, default ones at once", () => {
  const broken = 'templates: {a: "", b: "{{ nope }}"}\naliases: {both: [a, b]}\n';
  const config = read(`${broken}defaultTemplates: [a]`, true);
  assert.equal(config.form, "modern");
  if (config.form !== "modern") return;
  assert.equal(config.templates.get("a")?.(), config.templates.get("a")?.());
  assert.throws(config.templates.get("b") ?? (() => {}), /template "b" cannot be parsed/);
  for (const names of ["[b]", "[both]"]) {
    assert.throws(() => read(`${broken}defaultTemplates: ${names}`, true), /template "b" cannot be parsed/);
  }
  assert.throws(() => read(`${broken}defaultTemplates: [a]`), /template "b" cannot be parsed/);
});
