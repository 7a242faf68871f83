import { type FuncMap, type GoValue, isGoMap, parse, pure, sprint } from "../src/golang/gotemplate/mod.ts";
import { parseYaml } from "../src/yaml/mod.ts";
import { isMap } from "../src/base/value.ts";
import { needsShared, SHARED } from "../test/support/test_when.ts";

const small = `{{range $i, $p := .pods}}{{if $i}}, {{end}}{{$p.name}}:{{printf "%05d" (len $p.ports)}}{{end}}`;
const data: GoValue = { pods: [{ name: "a", ports: [80, 443] }, { name: "b", ports: [] }] };
const template = parse("small", small);

Deno.bench("gotemplate: parse a small template", () => {
  parse("small", small);
});

Deno.bench("gotemplate: render a small template", () => {
  template.render(data);
});

/** Template functions that do almost nothing, so that only the engine is measured. */
function cheapFunctions(text: string): FuncMap {
  const words = [...new Set(text.match(/[A-Za-z]+/g))].filter((word) => !builtin.has(word));
  const stubs: FuncMap = Object.fromEntries(
    words.map((word) => [word, pure(["interface {}"], (first: GoValue = null) => first, true)]),
  );
  return {
    ...stubs,
    isset: pure(["interface {}", "string"], (map, key) => isGoMap(map) && Object.hasOwn(map, sprint(key ?? null))),
    annotation: pure(["interface {}", "string", "interface {}"], (_meta, _name, fallback) => sprint(fallback ?? null)),
    list: pure(["interface {}"], (...items) => items, true),
    contains: pure(["string", "string"], (needle, text) => String(text).includes(String(needle))),
  };
}

const builtin = new Set(
  "and or not len index slice eq ne lt le gt ge print printf println html js urlquery call".split(" "),
);

const missing = needsShared("cases/inject/settings/config.yaml");
const config = missing === undefined
  ? parseYaml(Deno.readTextFileSync(`${SHARED}/cases/inject/settings/config.yaml`))
  : {};
const templates = isMap(config) && isMap(config["templates"]) ? config["templates"] : {};
const text = String(templates["sidecar"] ?? "");
const options = { funcs: cheapFunctions(text) };

Deno.bench({ name: "gotemplate: parse Istio's sidecar template", ignore: missing !== undefined }, () => {
  parse("inject", text, options);
});

const values = missing === undefined
  ? parseYaml(Deno.readTextFileSync(`${SHARED}/cases/inject/settings/values.yaml`))
  : {};
/** A pod as the injector passes it to the template, with only the fields that the template reads. */
const pod = {
  Values: values,
  ObjectMeta: {
    Annotations: { "proxy.istio.io/config": "{}" },
    Labels: { app: "web" },
    Name: "web",
    Namespace: "default",
  },
  DeploymentMeta: { Name: "web", Namespace: "default" },
  TypeMeta: { Kind: "Deployment", APIVersion: "apps/v1" },
  Spec: {
    Containers: [{ Name: "web", Ports: [{ ContainerPort: 80n }], Image: "nginx" }],
    SecurityContext: { RunAsUser: 1n },
  },
  ProxyConfig: { StatusPort: 15020n, InterceptionMode: { String: "REDIRECT" }, ProxyMetadata: {}, Concurrency: 2n },
  MeshConfig: { TrustDomain: "cluster.local", DefaultConfig: {}, ProxyListenPort: 15001n },
  ProxyImage: "proxyv2",
  ProxyUID: 1337n,
  ProxyGID: 1337n,
  NativeSidecars: false,
} as unknown as GoValue; // A manifest value is a Go value, except that its lists may be changed.

const sidecar = parse("inject", text, options);

Deno.bench({ name: "gotemplate: render Istio's sidecar template", ignore: missing !== undefined }, () => {
  sidecar.render(pod);
});
