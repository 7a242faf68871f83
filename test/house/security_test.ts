/** docs/security.md has the table that test/e2e/security compares with what programs do; UPDATE=1 writes it anew. */
import assert from "node:assert/strict";
import { runTimeTable } from "../../tools/docs/run_time.ts";
import { exists, read, ROOT } from "./source.ts";

const PAGE = "docs/security.md";
const MARKED = /(<!-- run time -->\n)[^]*?(<!-- end -->)/;

Deno.test(`the files of tests that ${PAGE} names exist`, () => {
  const named = [...read(PAGE).matchAll(/`((?:src|test|tools)\/[\w./]+)`/g)].map(([, path = ""]) => path);
  assert.deepEqual(named.filter((path) => !exists(path)), []);
});

Deno.test(`${PAGE} shows what each command does at run time`, () => {
  assert.match(read(PAGE), MARKED);
  const text = read(PAGE).replace(MARKED, (_, start: string, end: string) => `${start}${runTimeTable()}${end}`);
  if (Deno.env.get("UPDATE") === "1") Deno.writeTextFileSync(`${ROOT}/${PAGE}`, text);
  assert.equal(read(PAGE), text);
});
