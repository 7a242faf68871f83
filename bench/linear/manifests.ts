/** Cases for manifests: every YAML shape as `inject` reads and writes it, and inputs of many documents. */
import { MeshError } from "../../src/base/errors.ts";
import { splitDocuments } from "../../src/yaml/mod.ts";
import { changeStream, configurationOf, injection, type Injector, newInjector } from "../../src/inject/mod.ts";
import { type LinearCase, type Prepared, repeat } from "./case.ts";
import { BROKEN, deployment, SHAPES } from "./shapes.ts";

const encoder = new TextEncoder();
/** Larger than all inputs here, so that the limits of `inject` do not interfere. */
const MAX_BYTES = 256 * 1024 * 1024;
const CHUNK = 64 * 1024;

/** Returns the injector for a configuration; the built-in one by default. */
export function injectorOf(given: Parameters<typeof configurationOf>[0] = {}): Injector {
  return newInjector({ ...configurationOf(given), byHand: true, env: () => undefined, now: () => new Date(0) });
}

/** Runs `inject` on a text and returns the length of the output, which is not kept. */
export async function inject(bytes: Uint8Array, output: "yaml" | "json", injector = injectorOf()): Promise<number> {
  let written = 0;
  const sink = { write: (text: string) => void (written += text.length), report: () => {} };
  const input = { file: "input.yaml", chunks: () => chunksOf(bytes) };
  await changeStream([input], injection(injector), { output, sink });
  return written;
}

/** Splits bytes into chunks, as a file is read. */
async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
}

function injected(text: string, output: "yaml" | "json" = "yaml"): Prepared {
  const bytes = encoder.encode(text);
  return { length: bytes.length, run: () => inject(bytes, output) };
}

const indented = (text: string, margin: string) => text.replaceAll(/^(?=.)/gm, margin);

/** Whole manifests. */
const INPUTS: readonly { readonly name: string; readonly size: number; text(size: number): string }[] = [
  {
    name: "documents: ConfigMaps",
    size: 4_000,
    text: (n) => repeat(n, (i) => `kind: ConfigMap\nmetadata: {name: c${i}}\n---\n`),
  },
  { name: "documents: Deployments", size: 200, text: (n) => repeat(n, (i) => `${deployment({ name: `d${i}` })}---\n`) },
  { name: "documents: none between separators", size: 50_000, text: (n) => "---\n".repeat(n) },
  { name: "documents: only comments", size: 20_000, text: (n) => "# c\n---\n".repeat(n) },
  { name: "documents: broken ones", size: 4_000, text: (n) => "a: [\n---\n".repeat(n) },
  {
    name: "documents: JSON without separators",
    size: 4_000,
    text: (n) => repeat(n, (i) => `{"kind": "ConfigMap", "metadata": {"name": "c${i}"}}\n`),
  },
  {
    name: "list of Deployments",
    size: 200,
    text: (n) => list(repeat(n, (i) => `- ${indented(deployment({ name: `d${i}` }), "  ").trimStart()}`)),
  },
  { name: "list of ConfigMaps", size: 10_000, text: (n) => list("- {kind: ConfigMap}\n".repeat(n)) },
  {
    name: "list of Deployments that fail",
    size: 1_000,
    text: (n) => list(repeat(n, (i) => `- kind: Deployment\n  metadata: {name: d${i}}\n  spec: {replicas: x}\n`)),
  },
  { name: "list in JSON", size: 200, text: (n) => JSON.stringify({ kind: "List", items: objects(n) }) },
  {
    name: "list in indented JSON",
    size: 200,
    text: (n) => JSON.stringify({ kind: "List", items: objects(n) }, null, 2),
  },
  { name: "lists in lists", size: 500, text: (n) => list("- {kind: List, items: [{kind: ConfigMap}]}\n".repeat(n)) },
  {
    name: "annotations",
    size: 10_000,
    text: (n) => deployment({ annotations: repeat(n, (i) => `        a${i}: b\n`) }),
  },
  {
    name: "annotations of Istio",
    size: 2_000,
    text: (n) => deployment({ annotations: repeat(n, (i) => `        sidecar.istio.io/a${i}: b\n`) }),
  },
  {
    name: "annotations in JSON",
    size: 10_000,
    text: (n) =>
      JSON.stringify(
        jsonDeployment({ annotations: Object.fromEntries(Array.from({ length: n }, (_, i) => [`a${i}`, "b"])) }),
      ),
  },
  {
    name: "one long annotation",
    size: 1_000_000,
    text: (n) => deployment({ annotations: `        a: ${"b".repeat(n)}\n` }),
  },
  {
    name: "an annotation with JSON",
    size: 20_000,
    text: (n) => deployment({ annotations: `        a: '{"k":[${"1,".repeat(n)}2]}'\n` }),
  },
  {
    name: "a proxy configuration in an annotation",
    size: 5_000,
    text: (n) =>
      deployment({
        annotations: `        proxy.istio.io/config: |\n          proxyMetadata:\n${
          repeat(n, (i) => `            K${i}: v\n`)
        }`,
      }),
  },
  {
    name: "ports in an annotation",
    size: 2_000,
    text: (n) =>
      deployment({
        annotations: `        traffic.sidecar.istio.io/includeInboundPorts: "${
          repeat(n, (i) => `${i % 60000 + 1},`)
        }80"\n`,
      }),
  },
  {
    name: "addresses in an annotation",
    size: 5_000,
    text: (n) =>
      deployment({
        annotations: `        traffic.sidecar.istio.io/includeOutboundIPRanges: "${
          repeat(n, (i) => `10.${i >> 8 & 255}.${i & 255}.0/24,`)
        }10.0.0.0/8"\n`,
      }),
  },
  {
    name: "mounts in an annotation",
    size: 2_000,
    text: (n) =>
      deployment({
        annotations: `        sidecar.istio.io/userVolumeMount: '{${
          repeat(n, (i) => `"v${i}":{"mountPath":"/v${i}"},`)
        }"z":{"mountPath":"/z"}}'\n`,
      }),
  },
  {
    name: "overrides in an annotation",
    size: 1_000,
    text: (n) =>
      deployment({
        annotations: `        proxy.istio.io/overrides: '{"containers":[{"name":"istio-proxy","env":[${
          repeat(n, (i) => `{"name":"E${i}","value":"v"},`)
        }{"name":"Z"}]}]}'\n`,
      }),
  },
  {
    name: "labels",
    size: 10_000,
    text: (n) =>
      deployment({ pod: "" }).replace("labels: {app: web}", `labels: {${repeat(n, (i) => `l${i}: v, `)}app: web}`),
  },
  {
    name: "containers",
    size: 500,
    text: (n) =>
      deployment({
        containers: repeat(n, (i) =>
          `      - name: c${i}\n        image: i\n        ports: [{containerPort: ${i % 60000 + 1}}]\n`),
      }),
  },
  {
    name: "containers with probes",
    size: 300,
    text: (n) =>
      deployment({
        containers: repeat(n, (i) =>
          `      - name: c${i}\n        image: i\n        livenessProbe: {httpGet: {port: ${i % 60000 + 1}}}\n`),
      }),
  },
  {
    name: "init containers",
    size: 500,
    text: (n) =>
      deployment({ pod: `      initContainers:\n${repeat(n, (i) => `      - name: c${i}\n        image: i\n`)}` }),
  },
  {
    name: "volumes",
    size: 2_000,
    text: (n) => deployment({ pod: `      volumes:\n${repeat(n, (i) => `      - {name: v${i}, emptyDir: {}}\n`)}` }),
  },
  {
    name: "variables",
    size: 5_000,
    text: (n) => deployment({ containers: `        env:\n${repeat(n, (i) => `        - {name: E${i}, value: v}\n`)}` }),
  },
  {
    name: "variables of the proxy",
    size: 500,
    text: (n) =>
      deployment({
        containers: `      - name: istio-proxy\n        image: auto\n        env:\n${
          repeat(n, (i) => `        - {name: E${i}, value: v}\n`)
        }`,
      }),
  },
  {
    name: "arguments",
    size: 10_000,
    text: (n) => deployment({ containers: `        args:\n${repeat(n, (i) => `        - --a${i}\n`)}` }),
  },
  {
    name: "ports",
    size: 2_000,
    text: (n) =>
      deployment({
        containers: `        ports:\n${repeat(n, (i) => `        - {containerPort: ${i % 60000 + 1}, name: p${i}}\n`)}`,
      }),
  },
  {
    name: "mounts",
    size: 5_000,
    text: (n) =>
      deployment({
        containers: `        volumeMounts:\n${repeat(n, (i) => `        - {name: v${i}, mountPath: /m${i}}\n`)}`,
      }),
  },
  {
    name: "host aliases",
    size: 5_000,
    text: (n) =>
      deployment({
        pod: `      hostAliases:\n${repeat(n, (i) => `      - {ip: 10.0.${i >> 8}.${i & 255}, hostnames: [h]}\n`)}`,
      }),
  },
  {
    name: "fields of the wrong type",
    size: 5_000,
    text: (n) =>
      deployment({ containers: `        env:\n${repeat(n, (i) => `        - {name: ${i}, value: ${i}}\n`)}` }),
  },
  {
    name: "fields that cannot be read",
    size: 2_000,
    text: (n) => deployment({ containers: `        env:\n${repeat(n, (i) => `        - {name: [${i}]}\n`)}` }),
  },
];

function list(items: string): string {
  return `apiVersion: v1\nkind: List\nitems:\n${items}`;
}

function objects(count: number): object[] {
  return Array.from({ length: count }, (_, index) => jsonDeployment({ name: `d${index}` }));
}

function jsonDeployment({ name = "web", annotations = {} }: { name?: string; annotations?: object }): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { template: { metadata: { annotations }, spec: { containers: [{ name: "a", image: "b" }] } } },
  };
}

/** Injects a text, and prepares the output as an input that is already injected. */
async function again(text: string): Promise<Prepared> {
  let written = "";
  const sink = { write: (part: string) => void (written += part), report: () => {} };
  const bytes = encoder.encode(text);
  await changeStream([{ file: "", chunks: () => chunksOf(bytes) }], injection(injectorOf()), { output: "yaml", sink });
  return injected(written);
}

async function split(text: string): Promise<number> {
  const bytes = encoder.encode(text);
  let count = 0;
  try {
    for await (const document of splitDocuments(chunksOf(bytes), { file: "f", maxBytes: MAX_BYTES })) {
      count += document.index;
    }
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
  }
  return count;
}

export const MANIFEST_CASES: readonly LinearCase[] = [
  ...[...SHAPES, ...BROKEN].map(({ name, size, text }) => ({
    name: `inject: ${name}`,
    size,
    prepare: (n: number) => injected(text(n)),
  })),
  ...SHAPES.map(({ name, size, text }) => ({
    name: `inject -o json: ${name}`,
    size,
    prepare: (n: number) => injected(text(n), "json"),
  })),
  ...INPUTS.map(({ name, size, text }) => ({
    name: `inject: ${name}`,
    size,
    prepare: (n: number) => injected(text(n)),
  })),
  ...INPUTS.map(({ name, size, text }) => ({
    name: `inject -o json: ${name}`,
    size,
    prepare: (n: number) => injected(text(n), "json"),
  })),
  ...["list of Deployments", "containers", "annotations", "variables"].map((name) => ({
    name: `inject again: ${name}`,
    size: INPUTS.find((input) => input.name === name)?.size ?? 0,
    prepare: (n: number) => again(INPUTS.find((input) => input.name === name)?.text(n) ?? ""),
  })),
  {
    name: "split: lines that are not UTF-8",
    size: 500_000,
    prepare: (n) => ({ length: n, run: () => splitBytes(new Uint8Array(n).fill(0xff)) }),
  },
  {
    name: "split: short lines that are not UTF-8",
    size: 500_000,
    prepare: (n) => ({ length: n, run: () => splitBytes(new Uint8Array(n).map((_, at) => at % 2 === 0 ? 0xff : 10)) }),
  },
  { name: "split: one line", size: 8_000_000, prepare: (n) => ({ length: n, run: () => split("a".repeat(n)) }) },
];

async function splitBytes(bytes: Uint8Array): Promise<number> {
  let count = 0;
  for await (const document of splitDocuments(chunksOf(bytes), { file: "f", maxBytes: MAX_BYTES })) {
    count += document.index;
  }
  return count;
}
