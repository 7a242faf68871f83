/** docs/inject.md has the table of rules; UPDATE=1 writes it anew. */
import assert from "node:assert/strict";
import { RULES } from "../../src/inject/mod.ts";
import { read, ROOT } from "./source.ts";

const PAGE = "docs/inject.md";
const TABLE =
  /(\n\| rule \| severity \| `istioctl analyze` \| where it finds something \|\n\|(?:---\|)+\n)((?:\|.*\n)*)/;

Deno.test("docs/inject.md has the table of rules", () => {
  const rows = RULES.map(({ id, severity, istio = "", title }) =>
    `| \`${id}\` | ${severity} | ${istio} | ${title} |\n`
  );
  if (Deno.env.get("UPDATE") === "1") {
    Deno.writeTextFileSync(`${ROOT}/${PAGE}`, read(PAGE).replace(TABLE, (_, head) => `${head}${rows.join("")}`));
  }
  assert.equal(TABLE.exec(read(PAGE))?.[2], rows.join(""));
});
