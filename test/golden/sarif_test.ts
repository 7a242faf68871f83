/** `--report sarif` follows the JSON Schema of SARIF 2.1.0 (OASIS; `testdata/sarif-2.1.0.json.gz`). */
import assert from "node:assert/strict";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { z } from "zod";
import { main } from "../../src/cli/mod.ts";
import { fakeWorld } from "../support/fake_world.ts";

/** The parts that are compared. */
const LOG = z.object({
  runs: z.tuple([z.object({
    tool: z.object({ driver: z.object({ rules: z.array(z.object({ id: z.string() })) }) }),
    results: z.array(z.object({
      ruleId: z.string(),
      level: z.string(),
      locations: z.tuple([z.object({
        physicalLocation: z.object({
          artifactLocation: z.object({ uri: z.string() }),
          region: z.object({ startLine: z.number() }),
        }),
      })]),
    })),
  })]),
});

const HERE = decodeURIComponent(new URL(".", import.meta.url).pathname);

async function schema(): Promise<object> {
  const file = await Deno.open(`${HERE}testdata/sarif-2.1.0.json.gz`);
  return await new Response(file.readable.pipeThrough(new DecompressionStream("gzip"))).json();
}

Deno.test("the findings of all rules and a failure are valid SARIF, with rule, level and line", async () => {
  const names = (await Array.fromAsync(Deno.readDir(`${HERE}rules`), ({ name }) => name)).filter((name) =>
    name.endsWith(".yaml")
  );
  const files: Record<string, string> = { "rules/not read.yaml": "apiVersion: v1\nkind: Pod\nspec: {containers: 1}\n" };
  for (const name of names) files[`rules/${name}`] = await Deno.readTextFile(`${HERE}rules/${name}`);
  const args = ["inject", "-f", "rules/", "--report", "sarif", "-o", "out.yaml"];
  const world = fakeWorld({ args, files });
  assert.equal(await main(world), 1);
  const log: unknown = JSON.parse(world.said.stderr);
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
  formats.default(ajv);
  const isValid = ajv.validate(await schema(), log);
  assert.ok(isValid, ajv.errorsText());
  const [run] = LOG.parse(log).runs;
  const rules = new Set(run.tool.driver.rules.map(({ id }) => id));
  assert.equal(rules.size, run.tool.driver.rules.length);
  for (const { ruleId, level, locations: [place] } of run.results) {
    assert.ok(rules.has(ruleId) && ["error", "warning", "note"].includes(level));
    assert.match(place.physicalLocation.artifactLocation.uri, /^rules\/[\w%.-]+\.yaml$/);
    assert.ok(place.physicalLocation.region.startLine > 0);
  }
  assert.equal(run.results.filter(({ ruleId }) => ruleId === "invalid-manifest").length, 1);
});
