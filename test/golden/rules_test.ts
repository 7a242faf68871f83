/**
 * Rules about our own manifests: `rules/RULE.yaml` has resources whose names begin with `bad-` or `good-`. The rule finds something about
 * each bad one, and about no good one. `rules/report.txt` holds all findings; UPDATE=1 rewrites it.
 */
import assert from "node:assert/strict";
import {
  changeStream,
  configurationOf,
  type Finding,
  findingText,
  InputFacts,
  injection,
  inputFindings,
  newInjector,
  RULES,
} from "../../src/inject/mod.ts";

const FOLDER = decodeURIComponent(new URL("./rules/", import.meta.url).pathname);

const FILES = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) => name.endsWith(".yaml")).sort();

/** A configuration that sets the pod's group, as Istio 1.4 to 1.8 did. */
const FS_GROUP = {
  text: "templates:\n  sidecar: |\n    spec:\n      securityContext: {fsGroup: 1337}\n      containers: [{name: istio-proxy, image: example.com/proxy:1}]\n",
  file: "config.yaml",
};

/** The findings of a file, with the names of their resources. */
async function findingsIn(file: string, off: readonly string[] = []) {
  const injector = newInjector({
    ...configurationOf({ cni: file === "init-network.yaml" || undefined }),
    ...file === "fs-group-replaced.yaml" ? { config: FS_GROUP } : {},
    byHand: true,
    env: () => undefined,
    now: () => new Date(0),
  });
  const found: { readonly name: string; readonly finding: Finding }[] = [];
  const seen: string[] = [];
  const facts = new InputFacts();
  const rulesOff = new Set(off);
  await changeStream(
    [{
      file,
      async *chunks() {
        yield await Deno.readFile(`${FOLDER}${file}`);
      },
    }],
    injection(injector),
    {
      output: "yaml",
      rulesOff,
      seen: (object) => facts.add(object),
      sink: {
        write: () => {},
        report({ name, findings = [], result }) {
          assert.notEqual(result, "failed", `${file}: ${name}`);
          seen.push(name);
          for (const finding of findings) found.push({ name, finding });
        },
      },
    },
  );
  for (const { described, ...finding } of inputFindings(facts, rulesOff)) found.push({ name: described.name, finding });
  return { found, seen };
}

Deno.test("every rule has manifests that show it", () => {
  assert.deepEqual(FILES.map((file) => file.replace(".yaml", "")).sort(), RULES.map(({ id }) => id).sort());
});

for (const file of FILES) {
  const id = file.replace(".yaml", "");
  Deno.test(`the rule ${id} finds something about each bad resource and about no good one`, async () => {
    const { found, seen } = await findingsIn(file);
    const names = found.filter(({ finding }) => finding.rule === id).map(({ name }) => name);
    assert.deepEqual([...new Set(names)].sort(), seen.filter((name) => name.startsWith("bad-")).sort());
    assert.ok(seen.some((name) => name.startsWith("good-")));
    for (const { finding } of found) assert.ok(finding.line !== undefined && finding.line > 0, findingText(finding));
    const { found: left } = await findingsIn(file, [id]);
    assert.equal(left.some(({ finding }) => finding.rule === id), false);
  });
}

Deno.test("all findings are as recorded", async () => {
  const lines: string[] = [];
  for (const file of FILES) {
    const { found } = await findingsIn(file);
    for (const { name, finding } of found) {
      lines.push(`${file}:${finding.line} ${name} ${finding.severity} ${finding.field}: ${findingText(finding)}`);
    }
  }
  const text = `${lines.join("\n")}\n`;
  if (Deno.env.get("UPDATE") === "1") await Deno.writeTextFile(`${FOLDER}report.txt`, text);
  assert.equal(text, await Deno.readTextFile(`${FOLDER}report.txt`));
});
