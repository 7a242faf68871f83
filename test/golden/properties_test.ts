/** Properties for any input: re-injection changes nothing; no bytes and no template crash the program. */
import assert from "node:assert/strict";
import { fc } from "../support/properties.ts";
import { MeshError } from "../../src/base/errors.ts";
import { parseDocument, splitText } from "../../src/yaml/mod.ts";
import {
  configurationOf,
  entryJson,
  InputFacts,
  inputFindings,
  injection,
  type Injector,
  newInjector,
  type ReportEntry,
} from "../../src/inject/mod.ts";
import { changedText } from "../support/changed_text.ts";
import { eachManifest } from "../support/cases/manifests.ts";

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);

function injectorOf(config?: string, native = false): Injector {
  const given = config === undefined ? {} : { config: { text: config, file: "config.yaml" } };
  return newInjector({
    ...configurationOf(given),
    nativeSidecars: native,
    byHand: true,
    env: () => undefined,
    now: () => new Date(0),
  });
}

function inject(bytes: Uint8Array, injector: Injector, output: "yaml" | "json" = "yaml") {
  return changedText(bytes, injection(injector), { output });
}

const encoder = new TextEncoder();

Deno.test("re-injection of manifests changes nothing, and reports it", (t) => eachManifest(t, checkSecond));

async function checkSecond(path: string): Promise<void> {
  for (const native of [false, true]) {
    const injector = injectorOf(undefined, native);
    const first = await inject(await Deno.readFile(path), injector);
    const second = await inject(encoder.encode(first.text), injector);
    assert.equal(second.text, first.text);
    assert.deepEqual(resultsOf(second.entries), resultsOf(first.entries).map(again));
  }
}

/** Failed documents are not in the output, so the second run does not see them. */
function resultsOf(entries: readonly ReportEntry[]): string[] {
  return entries.map(({ result }) => result).filter((result) => result !== "failed");
}

function again(result: string): string {
  return result === "injected" ? "unchanged" : result;
}

const MANIFEST = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: &l {app: web}}
spec:
  replicas: 2
  template:
    metadata:
      labels: *l
      annotations:
        proxy.istio.io/config: |
          concurrency: 1
        sidecar.istio.io/proxyCPU: 100m
        prometheus.io/scrape: "true"
    spec:
      initContainers:
      - name: init
        image: busybox
      containers:
      - name: web
        image: nginx # any
        ports: [{containerPort: 80, name: http}]
        env: [{name: A, value: "010"}]
        livenessProbe: {httpGet: {path: /, port: http}, periodSeconds: 5}
        resources: {limits: {cpu: 1.5, memory: 1Gi}}
      - name: istio-proxy
        image: auto
        resources: {requests: {cpu: 1}}
      volumes: [{name: v, emptyDir: {}}]
---
kind: List
items:
- {kind: Pod, metadata: {name: p}, spec: {containers: [{name: a}]}}
`;

/** Words of manifests, for wrong places. */
const WORDS = [
  "---\n",
  "null",
  "[]",
  "{}",
  "'",
  '"',
  ": ",
  "- ",
  "\t",
  "&a ",
  "*a",
  "<<: ",
  "|\n",
  "!!binary ",
  "~",
  "1e999",
]
  .concat([
    "0x",
    "-1",
    "true",
    "\r\n",
    "\u0000",
    "\uFEFF",
    "{{ .x }}",
    "#",
    "?",
    "%YAML 1.1\n",
    "...\n",
    "\u{1F600}",
    "  ",
  ]);

/** A text with a few parts removed, doubled, or replaced. */
function mutated(text: string): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat(text.length),
    length: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(40)),
    put: fc.oneof(fc.constant(""), fc.constantFrom(...WORDS), fc.string({ maxLength: 5 })),
    copy: fc.boolean(),
  });
  return fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) =>
    edits.reduce((now, { at, length, put, copy }) => {
      const piece = now.slice(at, at + length);
      return now.slice(0, at) + put + (copy ? piece + piece : "") + now.slice(at + length);
    }, text)
  );
}

/** Runs of each property. */
const RUNS = { numRuns: 300, interruptAfterTimeLimit: 6000, markInterruptAsFailure: false };

function readable(text: string): void {
  for (const doc of splitText(text, "output.yaml")) parseDocument(doc);
}

Deno.test("changeStream fails with nothing but entries for any bytes, and writes what can be read", async () => {
  const injector = injectorOf();
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ unit: "binary" }).map((text) => encoder.encode(text)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (input) => {
      const { text, entries } = await inject(input, injector);
      if (entries.every(({ result }) => result !== "failed")) readable(text);
    }),
    RUNS,
  );
});

Deno.test("changeStream of a corrupted manifest writes what can be read, twice the same", async () => {
  const injector = injectorOf();
  await fc.assert(
    fc.asyncProperty(mutated(MANIFEST), fc.boolean(), async (input, json) => {
      const { text } = await inject(encoder.encode(input), injector, json ? "json" : "yaml");
      readable(text);
      if (!json) assert.equal((await inject(encoder.encode(text), injector)).text, text);
    }),
    RUNS,
  );
});

Deno.test("newInjector and changeStream fail with nothing but MeshErrors for a corrupted template", async () => {
  const template = await Deno.readTextFile(`${ROOT}src/inject/default/config.yaml`);
  await fc.assert(
    fc.asyncProperty(mutated(template), async (config) => {
      const injector = loaded(config);
      if (injector === undefined) return;
      const { text } = await inject(encoder.encode(MANIFEST), injector);
      readable(text);
    }),
    RUNS,
  );
});

function loaded(config: string): Injector | undefined {
  try {
    return injectorOf(config);
  } catch (error) {
    assert.ok(error instanceof MeshError, String(error instanceof Error ? error.stack : error));
    return undefined;
  }
}

const NAMED = (name: string) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: ${name}, labels: {${name}: ${name}}, annotations: {${name}: ${name}}}
spec:
  ${name}: 1
  template:
    metadata: {labels: {${name}: ${name}}, annotations: {${name}: ${name}}}
    spec:
      nodeSelector: {${name}: ${name}}
      containers: [{name: ${name}, image: ${name}, ports: [{name: ${name}, containerPort: 80}], ${name}: 1}]
      volumes: [{name: ${name}, ${name}: {}}]
---
{apiVersion: ${name}, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: a}]}}}}
---
apiVersion: v1
kind: Service
metadata: {name: a, namespace: ${name}}
spec: {selector: {${name}: ${name}}, ports: [{port: 80, targetPort: ${name}, name: ${name}}]}
---
{apiVersion: v1, kind: ${name}, metadata: {name: a}}
`;

/** The output and the report for a manifest that has a name wherever users choose names. */
async function namedBy(name: string, injector: Injector): Promise<string> {
  const facts = new InputFacts();
  const done = await Promise.all([false, true].map((patch) => {
    const options = { patch, seen: facts.add.bind(facts) };
    return changedText(NAMED(name), injection(injector), options);
  }));
  const reports = done.map(({ text, entries }) => [text, ...entries.map(entryJson)]);
  const text = JSON.stringify([reports, inputFindings(facts, new Set())]);
  // Labels of injection do not begin or end with an underscore.
  const trimmed = new RegExp(`\\b${name.replaceAll("_", "")}\\b`, "g");
  return text.replaceAll(name, "NAME").replaceAll(trimmed, "NAME");
}

Deno.test("names that every JavaScript object has are ordinary names in manifests", async () => {
  const injector = injectorOf();
  const expected = await namedBy("ordinary", injector);
  for (const name of Object.getOwnPropertyNames(Object.prototype)) {
    assert.equal(await namedBy(name, injector), expected, name);
  }
});
