/** docs/versions.md has the tables of the results that are kept; UPDATE=1 writes them. */
import assert from "node:assert/strict";
import { LAST_WITH_OWN_ENVOY, minorOf, RELEASES } from "../versions/releases.ts";
import { type Results, tablesOf } from "../versions/results.ts";
import { read } from "./source.ts";

const PAGE = "docs/versions.md";
const results: Results = JSON.parse(read("test/versions/results.json"));

Deno.test("docs/versions.md has the results of all releases", () => {
  const page = read(PAGE);
  const wanted = Object.entries(tablesOf(results)).reduce((text, [name, table]) => withTable(text, name, table), page);
  if (Deno.env.get("UPDATE") === "1") Deno.writeTextFileSync(new URL(`../../${PAGE}`, import.meta.url), wanted);
  else assert.equal(page, wanted);
});

Deno.test("the results have all releases, and no difference without a reason", () => {
  assert.deepEqual(results.injection.map(({ release }) => release), RELEASES);
  for (const { cases, agree, deliberate, differ } of results.injection) {
    assert.deepEqual(differ, []);
    assert.equal(agree + Object.values(deliberate).reduce((sum, count) => sum + count, 0), cases);
  }
});

Deno.test("no check of a control plane, an API server or a proxy failed", () => {
  const ran = results.istiods.filter(({ release, sha256 }) => sha256 !== "" && minorOf(release) > LAST_WITH_OWN_ENVOY);
  for (const { failed, passed } of [...ran, ...results.servers]) assert.deepEqual([failed, passed > 0], [[], true]);
});

/** The page with another table between the marks of this name. */
function withTable(page: string, name: string, table: string): string {
  const [begin, end] = [`<!-- results of ${name} -->\n`, `<!-- end of ${name} -->\n`];
  const [before, rest] = page.split(begin);
  const [, after] = rest?.split(end) ?? [];
  assert.ok(after !== undefined, `${PAGE} has no place for the results of ${name}`);
  return `${before}${begin}${table}${end}${after}`;
}
