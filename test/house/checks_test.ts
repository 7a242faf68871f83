/** docs/checks.md has a section for every check, and no other: `check --explain` prints it. */
import assert from "node:assert/strict";
import { CATEGORIES } from "../../src/check/check.ts";
import { ALL_CHECKS } from "../../src/check/checks/all.ts";
import { read } from "./source.ts";

const DOCUMENT = "docs/checks.md";

interface Section {
  readonly id: string;
  readonly text: string;
}

/** Headings of the third level are ids: their anchors are the ids themselves. */
function sections(): readonly Section[] {
  return read(DOCUMENT).split(/^### /m).slice(1).map((part) => {
    const [id = "", ...lines] = part.split("\n");
    return { id, text: lines.join("\n") };
  });
}

Deno.test("every check has its anchor in docs/checks.md, in the order of the output, and no anchor is without a check", () => {
  const ordered = CATEGORIES.flatMap((category) => ALL_CHECKS.filter((check) => check.category === category));
  assert.deepEqual(sections().map(({ id }) => id), ordered.map(({ id }) => id));
  assert.equal(new Set(ordered.map(({ id }) => id)).size, ordered.length);
});

Deno.test("docs/checks.md shows for each check its output, a meaning before it and a fix after it", () => {
  const texts = new Map(sections().map(({ id, text }) => [id, text.replace(/\n## .*\n[^]*$/, "\n")]));
  for (const { id, title, pre } of ALL_CHECKS) {
    const [meaning = "", output = "", fix = "", ...more] = (texts.get(id) ?? "").split("```");
    assert.deepEqual(more, [], id);
    assert.ok(meaning.trim() !== "" && fix.trim() !== "", `${id} has no meaning or no fix`);
    assert.match(output, /^\n[×‼] .*\n( {4}(?: {2})?\S.*\n)+ {4}see /, id);
    assert.equal(output.split("\n")[1]?.slice(2), title, id);
    assert.ok(
      output.endsWith(`    see "kubectl mesh check --explain ${id}"\n`),
      `${id}: the example does not end with the hint: see "kubectl mesh check --explain ${id}"`,
    );
    assert.equal(/_\(pre\)_/.test(meaning), pre === true, `${id} is marked wrongly`);
  }
});

Deno.test("what a check needs is a check", () => {
  const ids = new Set(ALL_CHECKS.map(({ id }) => id));
  assert.deepEqual(ALL_CHECKS.flatMap(({ needs }) => needs.filter((id) => !ids.has(id))), []);
});
