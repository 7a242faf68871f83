/** Fuzzes the injector's configuration, values and mesh configuration. */
import { configurationOf, loadInjector, unknownKeys } from "../../../src/inject/mod.ts";
import { type FuzzReader, textOf } from "../reader.ts";
import { YAML_WORDS } from "./words.ts";

const KINDS = ["config", "values", "mesh"] as const;

const SEEDS: Readonly<Record<typeof KINDS[number], readonly string[]>> = {
  config: [
    'policy: enabled\ndefaultTemplates: [sidecar]\naliases: {s: [sidecar]}\ntemplates:\n  sidecar: |\n    spec:\n      containers:\n      - name: istio-proxy\n        image: "{{ .ProxyImage }}"\nneverInjectSelector:\n- matchLabels: {a: b}\n  matchExpressions: [{key: k, operator: In, values: [v]}]\ninjectedAnnotations: {a: b}\n',
    "policy: enabled\ntemplate: |\n  containers:\n  - name: istio-proxy\n    image: [[ .ProxyConfig.ProxyImage ]]\n  volumes: []\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: i}\ndata:\n  config: |\n    policy: disabled\n    templates: {t: '{}'}\n  values: '{\"global\": {}}'\n",
  ],
  values: [
    '{"global": {"hub": "h", "tag": 1.2, "proxy": {"image": "p"}, "logging": {"level": "all:info"}}}',
    "global:\n  network: n\nrevision: r\n",
  ],
  mesh: [
    "defaultConfig:\n  concurrency: 2\n  drainDuration: 45s\n  proxyMetadata: {A: b}\n  image: {imageType: debug}\n  tracing: {zipkin: {address: a}}\ntrustDomain: t\noutboundTrafficPolicy: {mode: REGISTRY_ONLY}\n",
    "apiVersion: v1\nkind: ConfigMap\ndata:\n  mesh: |-\n    rootNamespace: i\n    enableTracing: true\n    extensionProviders: [{name: p, zipkin: {service: s, port: 1}}]\n",
  ],
};

export const CONFIGURATION: FuzzReader = {
  name: "configuration",
  // The first byte selects the kind of text.
  seeds: KINDS.flatMap((kind, index) => SEEDS[kind].map((text) => `${String.fromCharCode(index)}${text}`)),
  words: [
    ...YAML_WORDS,
    ..."policy: |templates: |template: |[[ .Spec ]]|{{ .Values.global.hub }}|{{ include }}|matchLabels: |operator: Exists|10s|-1s|1h2m|MUTUAL_TLS|data:\n|kind: ConfigMap\n|concurrency: |proxyMetadata: "
      .split("|"),
  ],
  open: () => async (input) => {
    const kind = KINDS[(input[0] ?? 0) % KINDS.length] ?? "config";
    const given = { [kind]: { text: textOf(input.subarray(1)), file: "f" } };
    const configuration = configurationOf(given);
    const injector = await loadInjector({
      ...configuration,
      byHand: true,
      env: () => undefined,
      now: () => new Date(0),
    });
    unknownKeys(given, injector, configuration);
    return true;
  },
};
