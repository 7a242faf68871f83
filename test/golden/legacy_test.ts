/** Outputs of the releases 1.0 to 1.8, recorded by their own tests. */
import assert from "node:assert/strict";
import { decode } from "../../src/kube/mod.ts";
import { parseYaml } from "../../src/yaml/mod.ts";
import { needsShared, SHARED, testWhen } from "../support/test_when.ts";
import { assertSame, documentsOf, podsOf } from "./legacy_compare.ts";
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

testWhen(needsShared("cases/inject-legacy"), "changeStream: the small configuration of each release", async (t) => {
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

testWhen(needsShared("cases/inject-legacy"), "changeStream: the real configuration of 1.8", async (t) => {
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

testWhen(needsShared("cases/inject-legacy"), "changeStream: the real configuration of 1.1", async (t) => {
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
  testWhen(needsShared("cases/inject-legacy"), `injectPod: patches of the webhook of ${release}`, async (t) => {
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

testWhen(needsShared("cases/inject-legacy"), "changeStream: annotations that 1.8 refuses", async (t) => {
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

testWhen(needsShared("cases/inject-legacy"), "every recorded case is used, or is known why not", () => {
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
