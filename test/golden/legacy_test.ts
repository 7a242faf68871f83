/**
 * Outputs of old releases: of 1.1 and 1.8 to our own cases, which test/oracle/legacy recorded; of 1.0 to 1.8, recorded by their
 * own tests, in `../shared`.
 */
import assert from "node:assert/strict";
import { decode } from "../../src/kube/mod.ts";
import { parseYaml } from "../../src/yaml/mod.ts";
import { LEGACY_CASES, type LegacyCase, LIKE } from "../oracle/legacy/cases.ts";
import { type LegacyAnswer, readLegacyAnswers } from "../oracle/legacy/recorded.ts";
import { SHARED, testShared } from "../support/test_when.ts";
import { assertSame, documentsOf, podsOf, type Tolerated } from "./legacy_compare.ts";
import { applyPatch, type Operation } from "../support/kube/json_patch.ts";
import { injectAdmitted, injectText, overlaid, type Settings } from "./legacy_run.ts";
import { earlier1_1, HELLO, MESH_1_1, UNUSED, VARIANTS_1_1, VARIANTS_1_8 } from "./legacy_cases.ts";

const CASES = `${SHARED}/cases/inject-legacy`;

function read(path: string): string {
  return Deno.readTextFileSync(`${CASES}/${path}`);
}

function readIfThere(path: string): string | undefined {
  try {
    return read(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function names(folder: string, end: string): string[] {
  const files = [...Deno.readDirSync(`${CASES}/${folder}`)].map(({ name }) => name).sort();
  return files.filter((name) => name.endsWith(end)).map((name) => name.slice(0, -end.length));
}

Deno.test("our own cases get what 1.1 and 1.8 answered", async (t) => {
  const answers = await readLegacyAnswers();
  assert.deepEqual(answers.map(({ name }) => name), LEGACY_CASES.map(({ name }) => name), "record the answers again");
  assert.equal(new Set(answers.map(({ name }) => name)).size, answers.length);
  for (const [index, one] of LEGACY_CASES.entries()) {
    await t.step(one.name, () => checkLegacy(one, answers[index] ?? { name: "" }));
  }
});

/** The namespace of reviews. */
const NAMESPACE = "trade";

async function checkLegacy(one: LegacyCase, { output, patch, error }: LegacyAnswer): Promise<void> {
  const { config, values, mesh, manifest } = one;
  const settings = { config, mesh, values: values === "" ? undefined : values };
  if (one.review) {
    const pod = decode(yaml(manifest), "Pod").value;
    if (error !== undefined) return void assert.throws(() => injectAdmitted(pod, settings, NAMESPACE));
    const operations = patch === undefined ? [] : probesFirst(JSON.parse(JSON.stringify(patch)));
    const expected = applyPatch(pod, operations);
    const tolerated = toleratedIn(JSON.stringify(expected));
    return assertSame([injectAdmitted(pod, settings, NAMESPACE)], [expected], tolerated);
  }
  const { text, entries } = await injectText(manifest, settings);
  if (error !== undefined) return assert.deepEqual(entries.map(({ result }) => result), ["failed"], error);
  assertSame(documentsOf(text), documentsOf(output ?? ""), toleratedIn(output ?? ""));
}

const NO_PROBERS = /name"?: ?"?ISTIO_KUBE_APP_PROBERS"?[,\s]+"?value"?: ?['"]\{\}/;

/** What old releases write beside. */
function toleratedIn(output: string): Tolerated[] {
  if (!NO_PROBERS.test(output)) return [];
  return [{ line: /: want \{"name":"ISTIO_KUBE_APP_PROBERS","value":"\{\}"\}/, why: "pods without probes need no variable" }];
}

Deno.test("each case that stands beside a shared one exists", () => {
  const own = new Set(LEGACY_CASES.map(({ name }) => name.replace(/, 1\.[18]$/, "")));
  assert.deepEqual(Object.keys(LIKE).filter((name) => !own.has(name)), []);
});

testShared("cases/inject-legacy", "one of our own cases stands beside each shared case", () => {
  const beside = /(?:_template|\.values)$/;
  const shared = ["1.8.0/inject", "1.1.0/webhook", "1.8.0/webhook"].flatMap((folder) =>
    names(folder, ".yaml").filter((name) => !beside.test(name)).map((name) => `${folder}/${name}`)
  );
  const patterns = Object.values(LIKE);
  assert.deepEqual(shared.filter((name) => !patterns.some((pattern) => pattern.test(name))), []);
});

testShared("cases/inject-legacy", "changeStream: the small configuration of each release", async (_, t) => {
  const releases = names("", ".0");
  assert.ok(releases.length >= 6);
  for (const release of releases) {
    const folder = `${release}.0`;
    const settings = {
      config: read(`${folder}/inject-config.yaml`),
      values: readIfThere(`${folder}/inject-values.yaml`),
      mesh: read(`${folder}/mesh-config.yaml`),
    };
    await t.step(folder, async () => {
      const { text } = await injectText(read(`${folder}/hello.yaml`), settings);
      assertSame(documentsOf(text), documentsOf(read(`${folder}/hello.yaml.injected`)), HELLO[release] ?? []);
    });
  }
});

testShared("cases/inject-legacy", "changeStream: the real configuration of 1.8", async (_, t) => {
  for (const name of names("1.8.0/inject", ".yaml.injected")) {
    await t.step(name, async () => {
      const { input = name, edit, values, mesh, tolerated } = VARIANTS_1_8[name] ?? {};
      const folder = input === "hello" ? "1.8.0" : "1.8.0/inject";
      const original = read(`${folder}/${input}.yaml`);
      const settings: Settings = {
        config: read("1.8.0/rendered/config.yaml"),
        values: overlaid(read("1.8.0/rendered/values.yaml"), values ?? {}, yaml),
        mesh: overlaid(read("1.8.0/rendered/mesh.yaml"), mesh ?? {}, yaml),
      };
      const { text } = await injectText(edit === undefined ? original : edit(original), settings);
      assertSame(documentsOf(text), documentsOf(read(`1.8.0/inject/${name}.yaml.injected`)), tolerated ?? []);
    });
  }
});

testShared("cases/inject-legacy", "changeStream: the real configuration of 1.1", async (_, t) => {
  for (const name of names("1.1.0/webhook", ".yaml.injected")) {
    await t.step(name, async () => {
      const { input = name, template = (text: string) => text, tolerated = [] } = VARIANTS_1_1[name] ?? {};
      const settings = { config: template(earlier1_1(read("1.1.0/rendered/config.yaml"))), mesh: MESH_1_1 };
      const { text } = await injectText(read(`1.1.0/webhook/${input}.yaml`), settings);
      assertSame(podsOf(text), podsOf(read(`1.1.0/webhook/${name}.yaml.injected`)), tolerated);
    });
  }
});

for (const release of ["1.1.0", "1.8.0"]) {
  testShared("cases/inject-legacy", `injectPod: patches of the webhook of ${release}`, async (_, t) => {
    const folder = `${release}/webhook`;
    for (const name of names(folder, ".patch")) {
      await t.step(name, () => {
        const input = inputOf(folder, name);
        const config = readIfThere(`${folder}/${name}_template.yaml`) ??
          read(`${folder}/TestWebhookInject_template.yaml`);
        const values = readIfThere(`${folder}/${name}.values.yaml`);
        const pod = decode(yaml(read(`${folder}/${input}.yaml`)), "Pod").value;
        const expected = applyPatch(pod, probesFirst(JSON.parse(read(`${folder}/${name}.patch`))));
        assertSame([injectAdmitted(pod, { config, values })], [expected]);
      });
    }
  });
}

/** Two patches have other names than their pods. */
function inputOf(folder: string, patch: string): string {
  const inputs = names(folder, ".yaml");
  const found = inputs.find((name) => name === patch) ??
    inputs.find((name) => name.toLowerCase() === patch.toLowerCase());
  return found ?? assert.fail(`no pod for ${patch}`);
}

/** 1.1 addresses containers by their original index, but removes some before it rewrites probes of others. */
function probesFirst(operations: readonly Operation[]): readonly Operation[] {
  const isProbe = ({ path }: Operation) => /Probe(\/|$)/.test(path);
  return [...operations.filter(isProbe), ...operations.filter((operation) => !isProbe(operation))];
}

testShared("cases/inject-legacy", "changeStream: annotations that 1.8 refuses", async (_, t) => {
  const bad = names("1.8.0/inject", ".yaml").filter((name) => name.includes("-bad-"));
  assert.ok(bad.length > 0);
  for (const name of bad) {
    await t.step(name, async () => {
      const settings = { config: read("1.8.0/rendered/config.yaml"), values: read("1.8.0/rendered/values.yaml") };
      const { text, entries } = await injectText(read(`1.8.0/inject/${name}.yaml`), settings);
      assert.equal(text, "");
      assert.deepEqual(entries.map(({ result, reason }) => ({ result, reason })), [
        { result: "failed", reason: "invalid-annotation" },
      ]);
      assert.match(entries[0]?.field ?? "", /^spec\.template\.metadata\.annotations\["traffic\.sidecar\.istio\.io\//);
    });
  }
});

testShared("cases/inject-legacy", "every recorded case is used, or is known why not", () => {
  const inputs = [...inputsOf("1.8.0/inject", ".yaml.injected"), ...inputsOf("1.1.0/webhook", ".yaml.injected")];
  const patched = ["1.1.0/webhook", "1.8.0/webhook"].flatMap((folder) =>
    names(folder, ".patch").map((name) => `${folder}/${inputOf(folder, name)}`)
  );
  const used = new Set([...inputs, ...patched, ...Object.keys(UNUSED)]);
  const kept = ["1.8.0/inject", "1.1.0/webhook", "1.8.0/webhook"].flatMap((folder) =>
    names(folder, ".yaml").map((name) => `${folder}/${name}`)
  );
  const beside = /(_template|\.values)$|-bad-/;
  assert.deepEqual(kept.filter((path) => !beside.test(path) && !used.has(path)), []);
  assert.deepEqual(Object.keys(UNUSED).filter((path) => !kept.includes(path)), []);
});

function inputsOf(folder: string, end: string): string[] {
  const variants = folder.startsWith("1.8") ? VARIANTS_1_8 : VARIANTS_1_1;
  const outputs = names(folder, end);
  assert.deepEqual(Object.keys(variants).filter((name) => !outputs.includes(name)), [], "a variant without its output");
  return outputs.map((name) => `${folder}/${variants[name]?.input ?? name}`);
}

function yaml(text: string) {
  return parseYaml(text, "");
}
