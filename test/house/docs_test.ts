/** Tables of the documents that are made from tables of the code; UPDATE=1 writes them anew. */
import assert from "node:assert/strict";
import { VARIABLE_LIST } from "../../src/agent/settings/variables.ts";
import { read, ROOT } from "./source.ts";

const DOCUMENT = "docs/agent.md";
const HEAD = "| variable | default | what |\n|---|---|---|\n";

Deno.test("docs/agent.md has the variables that the agent reads, with their defaults", () => {
  const rows = VARIABLE_LIST.map(({ env, fallback, doc }) => `| \`${env}\` | ${fallback} | ${doc} |\n`).join("");
  const text = read(DOCUMENT);
  const start = text.indexOf(HEAD) + HEAD.length;
  assert.ok(start > HEAD.length, `${DOCUMENT} has no such table`);
  const end = text.indexOf("\n\n", start - 1) + 1;
  if (Deno.env.get("UPDATE") === "1") {
    Deno.writeTextFileSync(`${ROOT}/${DOCUMENT}`, text.slice(0, start) + rows + text.slice(end));
  }
  const written = read(DOCUMENT);
  assert.equal(written.slice(start, written.indexOf("\n\n", start - 1) + 1), rows);
});
