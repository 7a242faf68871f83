/** The way back: `uninject` of what this program, Istio's and those of old releases injected. */
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
import { changedText } from "../support/changed_text.ts";
import { comparable } from "../support/cases/comparable.ts";
import { injectCases, injectorOf, needsInjectCases, readCaseFile } from "../support/cases/inject.ts";
import { MANIFEST_TEXTS } from "../support/manifest_texts.ts";
import { fc } from "../support/properties.ts";
import { needsShared, SHARED, testWhen } from "../support/test_when.ts";
import { workloadType } from "../support/workload_type.ts";

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);

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
    assert.deepEqual(back.warnings, []);
    if (REWRITTEN.test(injected.text)) assert.deepEqual(meaning(back.text), meaning(text));
    else assert.equal(back.text, text);
    assert.equal((await changed(back.text, uninjection)).text, back.text);
  }
}

/** What injection leaves where it rewrote. */
const REWRITTEN = /ISTIO_KUBE_APP_PROBERS|ISTIO_PROMETHEUS_ANNOTATIONS|proxy\.istio\.io\/overrides/;

Deno.test("uninject of the injected examples gives them back", async (t) => {
  for await (const { name } of Deno.readDir(`${ROOT}examples`)) {
    if (/\.ya?ml$/.test(name)) await t.step(name, () => checkFile(`${ROOT}examples/${name}`));
  }
});

testWhen(needsShared("cases/manifests"), "uninject of injected real manifests gives them back", async (t) => {
  for await (const { name } of Deno.readDir(`${SHARED}/cases/manifests`)) {
    if (/\.ya?ml$/.test(name)) await t.step(name, () => checkFile(`${SHARED}/cases/manifests/${name}`));
  }
});

Deno.test("uninject of injected generated manifests gives them back", async () => {
  const one = fc.asyncProperty(MANIFEST_TEXTS, fc.boolean(), async ({ text, isRewritten }, native) => {
    const injected = await changed(text, injection(INJECTORS[native ? 1 : 0]));
    assert.deepEqual(injected.entries.map(({ result }) => result), ["injected"]);
    const back = await changed(injected.text, uninjection);
    if (isRewritten) assert.deepEqual(meaning(back.text), meaning(text));
    else assert.equal(back.text, text);
    assert.deepEqual(back.warnings, []);
  });
  await fc.assert(one, { numRuns: 400 });
});

/** Cases of which something is lost, with the start of the warning that says so; `undefined` for an input with a proxy. */
const LOST: Readonly<Record<string, string | undefined>> = {
  "istio/052-custom-template.yaml": 'spec.template.metadata.annotations["inject.istio.io/templates"]: ',
  "extra/gateway-custom": "spec.securityContext: ",
  "extra/probes-all-kinds-native": "spec.containers[0].readinessProbe: ",
  "extra/prom-targets": undefined,
  "extra/reinject-idempotent": undefined,
  "extra/template-functions": undefined,
};

testWhen(needsInjectCases, "uninject of what Istio and this program injected means the same as the input", async (t) => {
  const cases = await injectCases();
  for (const item of cases.filter(({ rc = 0 }) => rc === 0)) {
    await t.step(item.name, async () => {
      const input = readCaseFile(item.input);
      const ours = await changed(input, injection(injectorOf(item, true)));
      for (const injected of [readCaseFile(item.expected), ours.text]) {
        const back = await changed(injected, uninjection);
        if (!(item.name in LOST)) assert.deepEqual(meaning(back.text), meaning(input));
        const lost = LOST[item.name];
        if (lost !== undefined) assert.ok(back.warnings.some((warning) => warning.includes(lost)), back.warnings.join());
      }
    });
  }
});

testWhen(needsShared("cases/inject-legacy"), "uninject of what Istio 1.0 to 1.8 injected", async (t) => {
  const root = `${SHARED}/cases/inject-legacy`;
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
