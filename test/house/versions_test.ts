/** docs/versions.md has the table of the results that are kept; UPDATE=1 writes it. */
import assert from "node:assert/strict";
import { RELEASES } from "../versions/releases.ts";
import { type Results, resultTable } from "../versions/results.ts";
import { read } from "./source.ts";

const PAGE = "docs/versions.md";
const BEGIN = "<!-- results of test/versions -->\n";
const END = "<!-- end of results -->\n";
const results: Results = JSON.parse(read("test/versions/results.json"));

Deno.test("docs/versions.md has the results of Istio's own tests", () => {
  const page = read(PAGE);
  const [before, rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  const wanted = `${before}${BEGIN}${resultTable(results)}${END}${after}`;
  if (Deno.env.get("UPDATE") === "1") Deno.writeTextFileSync(new URL(`../../${PAGE}`, import.meta.url), wanted);
  else assert.equal(page, wanted);
});

Deno.test("the results have all releases, and no difference without a reason", () => {
  assert.deepEqual(results.releases.map(({ release }) => release), RELEASES);
  for (const { cases, agree, deliberate, differ } of results.releases) {
    assert.deepEqual(differ, []);
    assert.equal(agree + Object.values(deliberate).reduce((sum, count) => sum + count, 0), cases);
  }
});
