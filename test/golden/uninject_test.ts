/** `uninject` of pods that this program, Istio and its old releases injected. */
import assert from "node:assert/strict";
import { decode } from "../../src/kube/mod.ts";
import { isList, isMap, type Value } from "../../src/base/value.ts";
import { parseDocument, splitText } from "../../src/yaml/mod.ts";
import {
  type Change,
  configurationOf,
  injection,
  type Injector,
  newInjector,
  uninjection,
} from "../../src/inject/mod.ts";
import { checkVerdicts } from "../support/check_verdicts.ts";
import { changedText } from "../support/changed_text.ts";
import { comparable } from "../support/cases/comparable.ts";
import { injectCases, injectorOf } from "../support/cases/inject.ts";
import { eachManifest } from "../support/cases/manifests.ts";
import { KINDS } from "../../src/inject/pod/kinds.ts";
import { MANIFEST_TEXTS } from "../support/manifest_texts.ts";
import { fc } from "../support/properties.ts";
import { LEGACY_CASES } from "../oracle/legacy/cases.ts";
import { readLegacyAnswers } from "../oracle/legacy/recorded.ts";
import { testShared } from "../support/test_when.ts";
import { workloadType } from "../support/workload_type.ts";

async function changed(input: string, change: Change) {
  const { text, entries } = await changedText(input, change);
  return { text, entries, warnings: entries.flatMap(({ warnings }) => warnings) };
}

/** The objects of a text by their meaning: typed, with sorted keys, with the numbers of named ports in probes. */
function meaning(text: string): unknown {
  return splitText(text, "").map((doc) => parseDocument(doc).value).filter((value) => value !== null).map(meant);
}

function meant(value: Value): unknown {
  if (!isMap(value)) return sorted(value);
  if (value["kind"] === "List") return isList(value["items"]) ? value["items"].map(meant) : [];
  const type = workloadType(String(value["kind"]));
  if (type === undefined) return sorted(comparable(value));
  const { status: _, ...typed } = decode(value, type).value;
  return sorted(comparable(typed));
}

/** Other spellings of Prometheus' annotations mean the same to it. */
const SPELLINGS = /^prometheus[.\-_/]io[.\-_/](scrape|port|path)$/;

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(withPortNumbers(value)).map(([key, item]) =>
    [key.replace(SPELLINGS, "prometheus.io/$1"), sorted(item)] as const
  );
  return Object.fromEntries(entries.sort(([a], [b]) => a < b ? -1 : 1));
}

/** The actions of a container with numbers in place of names of its ports. */
function withPortNumbers(container: object): object {
  if (!("ports" in container) || !Array.isArray(container.ports)) return container;
  const numbers = new Map(container.ports.map((port) => [port.name, port.containerPort]));
  const number = (key: string, value: unknown) => key === "port" && numbers.has(value) ? numbers.get(value) : value;
  return JSON.parse(JSON.stringify(container), (key, value) => number(key, value));
}

function builtIn(nativeSidecars: boolean): Injector {
  return newInjector({
    ...configurationOf({}),
    nativeSidecars,
    byHand: true,
    env: () => undefined,
    now: () => new Date(0),
  });
}

const INJECTORS = [builtIn(false), builtIn(true)] as const;

/** Injection and the way back: the same bytes unless a probe, a container or an annotation was rewritten. */
async function checkFile(path: string): Promise<void> {
  const text = await Deno.readTextFile(path);
  for (const injector of INJECTORS) {
    const injected = await changed(text, injection(injector));
    if (injected.entries.some(({ result }) => result === "failed")) continue;
    const back = await changed(injected.text, uninjection);
    assert.deepEqual(back.warnings.filter((warning) => !NAMED_PORT.test(warning)), []);
    if (REWRITTEN.test(injected.text)) assert.deepEqual(meaning(back.text), meaning(text));
    else assert.equal(back.text, text);
    assert.equal((await changed(back.text, uninjection)).text, back.text);
  }
}

/** A port of a probe that the manifest may have named. */
const NAMED_PORT = /: stays \d+, but may have been the port's name "/;

/** What injection leaves where it rewrote. */
const REWRITTEN = /ISTIO_KUBE_APP_PROBERS|ISTIO_PROMETHEUS_ANNOTATIONS|proxy\.istio\.io\/overrides/;

Deno.test("uninject of injected manifests gives them back", (t) => eachManifest(t, checkFile));

Deno.test("inject, check injection -f and uninject agree about 300 generated manifests of every kind", async () => {
  const kinds = new Set<string>();
  const one = fc.asyncProperty(MANIFEST_TEXTS, fc.boolean(), async ({ kind, text, isRewritten }, native) => {
    kinds.add(kind);
    const injector = INJECTORS[native ? 1 : 0];
    const injected = await changed(text, injection(injector));
    assert.deepEqual(injected.entries.map(({ result }) => result), ["injected"]);
    assert.deepEqual(await checkVerdicts(text, injector), ["injected"]);
    const back = await changed(injected.text, uninjection);
    if (isRewritten) assert.deepEqual(meaning(back.text), meaning(text));
    else assert.equal(back.text, text);
    assert.deepEqual(back.warnings, []);
  });
  await fc.assert(one, { numRuns: 300 });
  assert.deepEqual([...kinds].sort(), [...new Set(KINDS.map(({ kind }) => kind))].sort());
});

/** Cases that lose something, with the start of the warning; `undefined` for an input with a proxy. */
const LOST: Readonly<Record<string, string | undefined>> = {
  "istio/052-custom-template.yaml": 'spec.template.metadata.annotations["inject.istio.io/templates"]: ',
  "extra/gateway-custom": "spec.securityContext: ",
  "extra/probes-all-kinds-native": "spec.containers[0].readinessProbe: ",
  "extra/prom-targets": undefined,
  "extra/reinject-idempotent": undefined,
  "extra/template-functions": undefined,
  "a template of the user beside the sidecar's": 'spec.template.metadata.annotations["inject.istio.io/templates"]: ',
  "the template gateway with a user's settings": "spec.template.spec.securityContext: ",
  "probes of every kind, and handlers of the lifecycle": "spec.template.spec.containers[0].readinessProbe: ",
  // What injection would write, from an earlier injection or from the user: it cannot be known.
  "Prometheus scrapes the agent already": undefined,
  "a user's proxy and init container": undefined,
  "injected twice": undefined,
  "functions of templates": undefined,
  // Injection writes the same targets in another spelling.
  "several targets of Prometheus": undefined,
};

Deno.test("uninject of what Istio and this program injected means the same as the input", async (t) => {
  const cases = await injectCases();
  for (const item of cases.filter(({ fails }) => !fails)) {
    await t.step(item.name, async () => {
      const { input } = item;
      const ours = await changed(input, injection(injectorOf(item, true)));
      for (const injected of [item.expected, ours.text]) {
        const back = await changed(injected, uninjection);
        if (!(item.name in LOST)) assert.deepEqual(meaning(back.text), meaning(input));
        const lost = LOST[item.name];
        if (lost !== undefined) assert.ok(back.warnings.some((warning) => warning.includes(lost)), back.warnings.join());
      }
    });
  }
});

Deno.test("uninject of what Istio 1.1 and 1.8 injected", async (t) => {
  const answers = new Map((await readLegacyAnswers()).map((each) => [each.name, each]));
  for (const { name, manifest, review } of LEGACY_CASES) {
    const { output, error } = answers.get(name) ?? {};
    if (review || error !== undefined || output === undefined) continue;
    await t.step(name, async () => {
      const back = await changed(output, uninjection);
      assert.deepEqual(meaning(back.text), meaning(manifest));
    });
  }
});

testShared("cases/inject-legacy", "uninject of what Istio 1.0 to 1.8 injected", async (root, t) => {
  const small = ["1.0.0", "1.1.0", "1.2.0", "1.4.0", "1.6.0", "1.8.0"].map((release) => `${root}/${release}/hello.yaml`);
  const names = await Array.fromAsync(Deno.readDir(`${root}/1.8.0/inject`), ({ name }) => name);
  const real = names.filter((name) => names.includes(`${name}.injected`)).map((name) => `${root}/1.8.0/inject/${name}`);
  for (const path of [...small, ...real]) {
    await t.step(path.slice(root.length + 1), async () => {
      const back = await changed(await Deno.readTextFile(`${path}.injected`), uninjection);
      assert.deepEqual(meaning(back.text), meaning(await Deno.readTextFile(path)));
    });
  }
});
