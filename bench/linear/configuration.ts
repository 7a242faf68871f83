/** Cases for templates, the injector's configuration, reviews and kubeconfigs. */
import { jsonPatch } from "../../src/kube/mod.ts";
import { kubeconfigConnection } from "../../src/kube/client/from_kubeconfig.ts";
import { parse } from "../../src/golang/gotemplate/mod.ts";
import { loadLibraries, sprigFunctions } from "../../src/golang/gotemplate/sprig/mod.ts";
import { goJson, goJsonParse } from "../../src/golang/go_json.ts";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { parseYaml, toYaml } from "../../src/yaml/mod.ts";
import type { Value } from "../../src/base/value.ts";
import { BUILT_IN, unknownKeys } from "../../src/inject/mod.ts";
import { reviewPod } from "../../src/webhook/review/review_pod.ts";
import { ProxyConfigs } from "../../src/webhook/review/proxy_configs.ts";
import { type LinearCase, repeat } from "./case.ts";
import { inject, injectorOf } from "./manifests.ts";
import { deployment, SHAPES } from "./shapes.ts";

const encoder = new TextEncoder();

interface TemplateShape {
  readonly name: string;
  readonly size: number;
  readonly text: string | ((size: number) => string);
  readonly data?: (size: number) => Record<string, Value>;
}

const words = (n: number) => Array.from({ length: n }, (_, i) => `w${i}`);
const map = (n: number) => Object.fromEntries(words(n).map((word) => [word, word]));

/** Templates with one very long part, in the template or in its data. */
const TEMPLATES: readonly TemplateShape[] = [
  { name: "text", size: 2_000_000, text: (n) => "a b ".repeat(n / 4) },
  { name: "lines of text", size: 400_000, text: (n) => "a\n".repeat(n) },
  { name: "actions", size: 50_000, text: (n) => "{{ .a }}\n".repeat(n) },
  { name: "trimmed actions", size: 50_000, text: (n) => "  {{- .a -}}\n\n".repeat(n) },
  { name: "blank lines between trims", size: 500_000, text: (n) => `{{ "a" -}}${"\n".repeat(n)}{{- "b" }}` },
  { name: "comments", size: 50_000, text: (n) => "{{/* c */}}\n".repeat(n) },
  { name: "one long comment", size: 2_000_000, text: (n) => `{{/* ${"* ".repeat(n / 2)} */}}` },
  { name: "conditions", size: 20_000, text: (n) => "{{ if .a }}b{{ else }}c{{ end }}".repeat(n) },
  { name: "conditions in a chain", size: 100, text: (n) => `{{ if .a }}b${"{{ else if .b }}c".repeat(n)}{{ end }}` },
  { name: "variables", size: 5_000, text: (n) => repeat(n, (i) => `{{ $v${i} := .a }}{{ $v${i} }}`) },
  {
    name: "definitions",
    size: 5_000,
    text: (n) => repeat(n, (i) => `{{ define "d${i}" }}x{{ end }}{{ template "d${i}" }}`),
  },
  { name: "one string constant", size: 500_000, text: (n) => `{{ "${"\\n".repeat(n / 2)}" }}` },
  { name: "one raw string", size: 1_000_000, text: (n) => `{{ \`${"a\n".repeat(n / 2)}\` }}` },
  { name: "a pipeline", size: 1_000, text: (n) => `{{ .a ${"| print ".repeat(n)} }}` },
  { name: "digits", size: 200_000, text: (n) => `{{ ${"1".repeat(n)} }}` },
  { name: "an error at the end", size: 200_000, text: (n) => `${"a\n".repeat(n)}{{ .a ` },
  { name: "a failure at the end", size: 200_000, text: (n) => `${"a\n".repeat(n)}{{ .a.b.c }}` },
  {
    name: "range over a list",
    size: 100_000,
    text: "{{ range .l }}{{ . }}\n{{ end }}",
    data: (n) => ({ l: words(n) }),
  },
  {
    name: "range over a map",
    size: 50_000,
    text: "{{ range $k, $v := .m }}{{ $k }}{{ $v }}{{ end }}",
    data: (n) => ({ m: map(n) }),
  },
  { name: "toJson", size: 50_000, text: "{{ toJson .m }}", data: (n) => ({ m: map(n) }) },
  { name: "toPrettyJson", size: 50_000, text: "{{ toPrettyJson .m }}", data: (n) => ({ m: map(n) }) },
  { name: "fromJson", size: 20_000, text: "{{ fromJson .t }}", data: (n) => ({ t: JSON.stringify(map(n)) }) },
  { name: "keys and sortAlpha", size: 50_000, text: "{{ keys .m | sortAlpha }}", data: (n) => ({ m: map(n) }) },
  { name: "uniq", size: 2_000, text: "{{ uniq .l | len }}", data: (n) => ({ l: words(n) }) },
  { name: "without", size: 50_000, text: '{{ without .l "w1" "w2" | len }}', data: (n) => ({ l: words(n) }) },
  { name: "has", size: 100_000, text: '{{ has "x" .l }}', data: (n) => ({ l: words(n) }) },
  {
    name: "append in a loop",
    size: 2_000,
    text: "{{ $a := list }}{{ range .l }}{{ $a = append $a . }}{{ end }}{{ len $a }}",
    data: (n) => ({ l: words(n) }),
  },
  {
    name: "set in a loop",
    size: 20_000,
    text: "{{ $a := dict }}{{ range .l }}{{ $_ := set $a . . }}{{ end }}{{ len $a }}",
    data: (n) => ({ l: words(n) }),
  },
  { name: "merge", size: 50_000, text: "{{ merge .m .m | len }}", data: (n) => ({ m: map(n) }) },
  { name: "indent", size: 200_000, text: "{{ indent 4 .t }}", data: (n) => ({ t: "a\n".repeat(n) }) },
  { name: "nindent", size: 200_000, text: "{{ nindent 4 .t }}", data: (n) => ({ t: "a\n".repeat(n) }) },
  { name: "trim", size: 1_000_000, text: "{{ trim .t }}", data: (n) => ({ t: `a${" ".repeat(n)}a` }) },
  { name: "trimSuffix", size: 1_000_000, text: '{{ trimSuffix "b" .t | len }}', data: (n) => ({ t: "a".repeat(n) }) },
  { name: "replace", size: 500_000, text: '{{ replace "a" "bb" .t | len }}', data: (n) => ({ t: "a".repeat(n) }) },
  {
    name: "splitList and join",
    size: 100_000,
    text: '{{ splitList "," .t | join "-" | len }}',
    data: (n) => ({ t: "a,".repeat(n) }),
  },
  { name: "split", size: 50_000, text: '{{ len (split "," .t) }}', data: (n) => ({ t: "a,".repeat(n) }) },
  { name: "wrap", size: 50_000, text: "{{ wrap 80 .t | len }}", data: (n) => ({ t: "word ".repeat(n) }) },
  {
    name: "wordwrap with long words",
    size: 100_000,
    text: '{{ wrapWith 10 "\\n" .t | len }}',
    data: (n) => ({ t: "w".repeat(n) }),
  },
  {
    name: "camelcase",
    size: 50_000,
    text: "{{ camelcase .t | len }}",
    data: (n) => ({ t: "some_word ".repeat(n / 10) }),
  },
  { name: "snakecase", size: 50_000, text: "{{ snakecase .t | len }}", data: (n) => ({ t: "SomeWord".repeat(n / 8) }) },
  { name: "quote", size: 500_000, text: "{{ quote .t | len }}", data: (n) => ({ t: '"a"\n'.repeat(n / 4) }) },
  { name: "printf %q", size: 500_000, text: '{{ printf "%q" .t | len }}', data: (n) => ({ t: "ü\n".repeat(n / 2) }) },
  {
    name: "b64enc and b64dec",
    size: 500_000,
    text: "{{ b64enc .t | b64dec | len }}",
    data: (n) => ({ t: "a".repeat(n) }),
  },
  { name: "sha256sum", size: 1_000_000, text: "{{ sha256sum .t }}", data: (n) => ({ t: "a".repeat(n) }) },
  {
    name: "regexReplaceAll",
    size: 50_000,
    text: '{{ regexReplaceAll "a+b" .t "c" | len }}',
    data: (n) => ({ t: "aab".repeat(n) }),
  },
  {
    name: "regexFindAll",
    size: 50_000,
    text: '{{ len (regexFindAll "a+b" .t -1) }}',
    data: (n) => ({ t: "aab".repeat(n) }),
  },
  {
    name: "atoi of many digits",
    size: 500_000,
    text: "{{ atoi .t }}{{ int64 .t }}",
    data: (n) => ({ t: "1".repeat(n) }),
  },
  { name: "title", size: 200_000, text: "{{ title .t | len }}", data: (n) => ({ t: "word ".repeat(n / 5) }) },
  { name: "abbrev", size: 500_000, text: "{{ abbrev 10 .t }}", data: (n) => ({ t: "a".repeat(n) }) },
  { name: "substr", size: 500_000, text: "{{ substr 10 20 .t }}", data: (n) => ({ t: "a".repeat(n) }) },
  {
    name: "index of letters beyond ASCII",
    size: 200_000,
    text: "{{ len .t }}{{ index .t 5 }}",
    data: (n) => ({ t: "ü".repeat(n) }),
  },
];

function render(text: string, data: Record<string, Value>): string {
  return parse("t", text, { funcs: sprigFunctions({ now: () => new Date(0) }) }).render({ a: "x", b: "", ...data });
}

async function templateCase(shape: TemplateShape, n: number) {
  await loadLibraries("regex");
  const text = typeof shape.text === "string" ? shape.text : shape.text(n);
  const data = shape.data?.(n) ?? {};
  return {
    length: text.length + JSON.stringify(data).length,
    run: () => {
      try {
        render(text, data);
      } catch (error) {
        // Errors in Go's format are expected.
        if (!(error instanceof Error) || error instanceof RangeError) throw error;
      }
    },
  };
}

/** Returns a configuration with the text as its only template, its values, or its mesh configuration. */
export function configured(text: string, kind: "template" | "values" | "mesh") {
  const small = encoder.encode(deployment());
  const given = kind === "template"
    ? { config: { text, file: "c" } }
    : kind === "values"
    ? { values: { text, file: "v" } }
    : { mesh: { text, file: "m" } };
  return {
    length: text.length,
    run: () => {
      const injector = injectorOf(given);
      unknownKeys(given, injector, { config: { text: BUILT_IN.config, file: "c" }, values: undefined, ...given });
      return inject(small, "yaml", injector);
    },
  };
}

/** Returns an injector configuration with one template. */
export const configOf = (template: string) =>
  `policy: enabled\ndefaultTemplates: [sidecar]\ntemplates:\n  sidecar: |\n${template.replaceAll(/^(?=.)/gm, "    ")}`;
/** Returns a template for a pod with these lines as annotations. */
export const podOf = (annotations: string) =>
  `metadata:\n  annotations:\n${annotations}spec:\n  containers:\n  - name: istio-proxy\n    image: p\n`;

const CONFIGURATIONS: readonly (readonly [string, number, "template" | "values" | "mesh", (n: number) => string])[] = [
  ["a template of text", 20_000, "template", (n) => configOf(podOf(repeat(n, (i) => `    a${i}: b\n`)))],
  ["a template of comments", 100_000, "template", (n) => configOf(podOf("    # c\n".repeat(n) + "    a: b\n"))],
  ["a template of blank lines", 200_000, "template", (n) => configOf(podOf("\n".repeat(n) + "    a: b\n"))],
  [
    "a template of actions",
    10_000,
    "template",
    (n) => configOf(podOf(repeat(n, (i) => `    a${i}: {{ .ObjectMeta.Name }}\n`))),
  ],
  [
    "a template that makes much text",
    10_000,
    "template",
    (n) => configOf(podOf(`    {{- range untilStep 0 ${n} 1 }}\n    a{{ . }}: b\n    {{- end }}\n`)),
  ],
  [
    "a template that makes containers",
    500,
    "template",
    (n) =>
      configOf(
        podOf("    a: b\n") + `  {{- range untilStep 0 ${n} 1 }}\n  - name: c{{ . }}\n    image: i\n  {{- end }}\n`,
      ),
  ],
  [
    "many templates",
    500,
    "template",
    (n) => `policy: enabled\ndefaultTemplates: [t0]\ntemplates:\n${repeat(n, (i) => `  t${i}: |\n    spec: {}\n`)}`,
  ],
  [
    "many aliases",
    2_000,
    "template",
    (n) => `policy: enabled\ntemplates: {t: "spec: {}"}\naliases:\n${repeat(n, (i) => `  a${i}: [t]\n`)}`,
  ],
  [
    "selectors",
    1_000,
    "template",
    (n) =>
      `policy: enabled\ntemplates: {t: "spec: {}"}\ndefaultTemplates: [t]\nneverInjectSelector:\n${
        repeat(n, (i) => `- matchLabels: {a${i}: b}\n`)
      }`,
  ],
  ["values", 20_000, "values", (n) => `global:\n  x:\n${repeat(n, (i) => `    k${i}: v\n`)}`],
  ["unknown values", 20_000, "values", (n) => repeat(n, (i) => `k${i}: v\n`)],
  ["values in JSON", 20_000, "values", (n) => JSON.stringify({ global: map(n) })],
  [
    "mesh configuration",
    10_000,
    "mesh",
    (n) => `defaultConfig:\n  proxyMetadata:\n${repeat(n, (i) => `    K${i}: v\n`)}`,
  ],
  ["unknown fields of the mesh", 10_000, "mesh", (n) => repeat(n, (i) => `k${i}: v\n`)],
  [
    "providers of the mesh",
    8_000,
    "mesh",
    (n) => `extensionProviders:\n${repeat(n, (i) => `- {name: p${i}, zipkin: {service: s, port: 1}}\n`)}`,
  ],
];

const review = (pod: object) =>
  encoder.encode(JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "1", kind: { kind: "Pod" }, namespace: "n", operation: "CREATE", object: pod },
  }));

const items = (n: number, make: (index: number) => object) => Array.from({ length: n }, (_, index) => make(index));

/** Pods in reviews. A review may contain at most 100,000 values. */
const REVIEWS: readonly (readonly [string, number, (n: number) => { metadata?: object; spec: object }])[] = [
  [
    "containers",
    240,
    (n) => ({
      spec: { containers: items(n, (i) => ({ name: `c${i}`, image: "i", ports: [{ containerPort: i + 1 }] })) },
    }),
  ],
  [
    "containers with probes",
    200,
    (n) => ({
      spec: {
        containers: items(n, (i) => ({ name: `c${i}`, image: "i", readinessProbe: { httpGet: { port: i + 1 } } })),
      },
    }),
  ],
  [
    "volumes",
    2_000,
    (n) => ({ spec: { containers: [{ name: "a" }], volumes: items(n, (i) => ({ name: `v${i}`, emptyDir: {} })) } }),
  ],
  [
    "variables",
    5_000,
    (n) => ({ spec: { containers: [{ name: "a", env: items(n, (i) => ({ name: `E${i}`, value: "v" })) }] } }),
  ],
  ["annotations", 5_000, (n) => ({ metadata: { annotations: map(n) }, spec: { containers: [{ name: "a" }] } })],
  [
    "annotations of Istio",
    2_000,
    (n) => ({
      metadata: { annotations: Object.fromEntries(words(n).map((word) => [`sidecar.istio.io/${word}`, "v"])) },
      spec: { containers: [{ name: "a" }] },
    }),
  ],
  ["labels", 5_000, (n) => ({ metadata: { labels: map(n) }, spec: { containers: [{ name: "a" }] } })],
  [
    "one long annotation",
    500_000,
    (n) => ({ metadata: { annotations: { a: "b".repeat(n) } }, spec: { containers: [{ name: "a" }] } }),
  ],
  ["too many values", 100_000, (n) => ({ spec: { containers: items(n, () => ({})) } })],
  [
    "large integers",
    10_000,
    (n) => ({ spec: { containers: [{ name: "a" }], x: items(n, () => ({ i: 12345678901234567890 })) } }),
  ],
];

const kubeconfigOf = (n: number) =>
  `current-context: x1\nclusters:\n${repeat(n, (i) => `- {name: c${i}, cluster: {server: "https://a:1"}}\n`)}users:\n${
    repeat(n, (i) => `- {name: u${i}, user: {token: t}}\n`)
  }contexts:\n${repeat(n, (i) => `- {name: x${i}, context: {cluster: c${i}, user: u${i}}}\n`)}`;

/** Conversions of values to text and back. */
const VALUES: readonly (readonly [string, number, (n: number) => unknown])[] = [
  ["toYaml of a map", 50_000, (n) => toYaml(map(n), { sortKeys: true })],
  [
    "toYaml of keys with digits",
    5_000,
    (n) =>
      toYaml(Object.fromEntries(items(n, (i) => [`k${"1".repeat(50)}${i}`, 1] as never) as never), { sortKeys: true }),
  ],
  ["toYaml of long keys", 200_000, (n) => toYaml({ ["a".repeat(n)]: 1, ["a".repeat(n) + "b"]: 2 }, { sortKeys: true })],
  ["toYaml of a base-60 number", 500_000, (n) => toYaml("1:".repeat(n) + "1")],
  ["goJson of a map", 50_000, (n) => goJson(map(n), { indent: "  " })],
  ["goJson of text", 500_000, (n) => goJson("<\u2028".repeat(n / 2))],
  ["goJsonParse with an exponent", 1_000_000, (n) => goJsonParse(`["${"a\\n".repeat(n / 3)}", 1e100]`)],
  ["jsonPatch of lists", 2_000, (n) => jsonPatch(words(n), words(n).map((word, i) => i % 2 === 0 ? word : `${word}x`))],
  [
    "jsonPatch of maps in lists",
    2_000,
    (n) => jsonPatch(items(n, (i) => ({ name: `n${i}` })) as Value, items(n, (i) => ({ name: `n${n - i}` })) as Value),
  ],
  ["parseYaml", 20_000, (n) => parseYaml(repeat(n, (i) => `k${i}: [a, {b: c}]\n`))],
];

export const CONFIGURATION_CASES: readonly LinearCase[] = [
  ...TEMPLATES.map((shape) => ({
    name: `template: ${shape.name}`,
    size: shape.size,
    prepare: (n: number) => templateCase(shape, n),
  })),
  ...CONFIGURATIONS.map(([name, size, kind, text]) => ({
    name: `configuration: ${name}`,
    size,
    prepare: (n: number) => configured(text(n), kind),
  })),
  ...REVIEWS.map(([name, size, pod]) => ({
    name: `review: ${name}`,
    size,
    prepare(n: number) {
      const bytes = review(pod(n));
      const context = {
        injector: injectorOf(),
        path: "/inject",
        proxyConfigs: new ProxyConfigs([]),
        namespace: () => undefined,
      };
      return { length: bytes.length, run: () => reviewPod(bytes, context) };
    },
  })),
  ...SHAPES.slice(0, 12).map(({ name, size, text }) => ({
    name: `mesh configuration: ${name}`,
    size,
    prepare: (n: number) => configured(text(n).replace(/^spec:[^]*?app:1\n/m, ""), "mesh"),
  })),
  {
    name: "kubeconfig: contexts",
    size: 2_000,
    prepare(n) {
      const text = kubeconfigOf(n);
      const world = fakeWorld({ files: { "/config": text } });
      return { length: text.length, run: () => kubeconfigConnection(world, ["/config"], {}) };
    },
  },
  {
    name: "kubeconfig: files",
    size: 100,
    prepare(n) {
      const files = Object.fromEntries(
        items(n, (i) => [`/c${i}`, kubeconfigOf(3).replaceAll(/\b([cux])(\d)\b/g, `$1${i}-$2`)] as never) as never,
      ) as Record<string, string>;
      const world = fakeWorld({ files: { ...files, "/c0": kubeconfigOf(3) } });
      return { length: n * 300, run: () => kubeconfigConnection(world, Object.keys(files), {}) };
    },
  },
  ...VALUES.map(([name, size, run]) => ({
    name: `values: ${name}`,
    size,
    prepare: (n: number) => ({ length: n, run: () => run(n) }),
  })),
];
