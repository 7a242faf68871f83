/** Documentation that is made from the records of commands; UPDATE=1 writes it anew. */
import assert from "node:assert/strict";
import { allCommands } from "../../tools/docs/commands.ts";
import { flagTables } from "../../tools/docs/flag_table.ts";
import { VARIABLES } from "../../tools/docs/manual.ts";
import { manPage, pageName } from "../../tools/docs/man_page.ts";
import { filesBelow, read, ROOT } from "./source.ts";

const COMMANDS = await allCommands();
const DOCUMENTS = filesBelow("docs").filter((path) => /^docs\/[^/]*\.md$/.test(path));
const MARKED = /<!-- flags: (.*?) -->\n[^]*?<!-- end -->/g;

function update(path: string, text: string): void {
  if (Deno.env.get("UPDATE") === "1") Deno.writeTextFileSync(`${ROOT}/${path}`, text);
}

for (const path of DOCUMENTS.filter((path) => read(path).includes("<!-- flags: "))) {
  Deno.test(`${path} has the flags of today`, () => {
    const text = read(path).replace(MARKED, (marked) => {
      const [start = "", name = ""] = /^<!-- flags: (.*) -->\n/.exec(marked) ?? [];
      const found = COMMANDS.find((each) => each.name === name);
      assert.ok(found, `there is no command "${name}"`);
      return `${start}${flagTables(found.groups)}<!-- end -->`;
    });
    update(path, text);
    assert.equal(read(path), text);
  });
}

Deno.test("the flags of every command stand in a document, once", () => {
  const named = DOCUMENTS.flatMap((path) => [...read(path).matchAll(MARKED)].map(([, name]) => name));
  // "agent bootstrap" has the flags of "agent"; all modes of iptables have the same flags.
  const sameAs = /^agent bootstrap$|^iptables (apply|clean|verify)$/;
  const names = COMMANDS.filter(({ name, groups }) => Object.keys(groups).length > 0 && !sameAs.test(name))
    .map(({ name }) => name);
  assert.deepEqual(named.toSorted(), names.toSorted());
});

Deno.test("docs/man has the page of every command, as it is today, and no other", () => {
  const pages = new Map(COMMANDS.map((each) => [`docs/man/${pageName(each)}.1`, manPage(each, COMMANDS)]));
  for (const [path, text] of pages) update(path, text);
  assert.deepEqual(filesBelow("docs/man"), [...pages.keys()].toSorted());
  for (const [path, text] of pages) assert.equal(read(path), text, path);
});

Deno.test("every manual page has examples; the program's has commands, exit codes, and variables that the source reads", () => {
  for (const each of COMMANDS) assert.match(read(`docs/man/${pageName(each)}.1`), /^\.SH EXAMPLES$/m, each.program);
  const page = read("docs/man/kubectl-mesh.1");
  for (const title of ["COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES"]) {
    assert.ok(page.includes(`.SH ${title}\n`), title);
  }
  const source = filesBelow("src").filter((path) => path.endsWith(".ts")).map(read).join("\n");
  const unread = Object.keys(VARIABLES).flatMap((names) => names.split(", ")).filter((name) => !source.includes(name));
  assert.deepEqual(unread, []);
});
