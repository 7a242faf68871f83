/**
 * Imports run one longer, between files and between folders: what lies in one folder, files and folders, imports each other in no
 * circle. Imports of types and by `import()` count too. So each file can be read, tested and loaded without those above it.
 */
import assert from "node:assert/strict";
import { type Import, importsOf } from "./arrows.ts";
import { filesBelow, read } from "./source.ts";

/** The arrows between the files and folders in one folder, each with the import that makes it. */
type Arrows = Map<string, Map<string, string>>;

/** The arrows in every folder that has some. */
function arrowsByFolder(imports: readonly Import[]): Map<string, Arrows> {
  const folders = new Map<string, Arrows>();
  for (const { from, to } of imports) {
    const [source, target] = [from.split("/"), to.split("/")];
    const depth = source.findIndex((part, index) => part !== target[index]);
    const [a, b] = [source[depth], target[depth]];
    if (a === undefined || b === undefined) continue;
    const folder = source.slice(0, depth).join("/");
    const arrows = folders.get(folder) ?? new Map<string, Map<string, string>>();
    folders.set(folder, arrows.set(a, (arrows.get(a) ?? new Map<string, string>()).set(b, `${from} -> ${to}`)));
  }
  return folders;
}

/** A circle for each arrow that leads back to the path to it: the imports that make it. */
function circles(arrows: Arrows): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (name: string, path: readonly { readonly name: string; readonly by: string }[]) => {
    for (const [next, by] of arrows.get(name) ?? []) {
      const longer = [...path, { name: next, by }];
      const start = longer.findIndex((each) => each.name === next);
      if (start < longer.length - 1) found.push(longer.slice(start + 1).map((each) => each.by).join(", "));
      else if (!done.has(next)) visit(next, longer);
    }
    done.add(name);
  };
  for (const name of arrows.keys()) if (!done.has(name)) visit(name, [{ name, by: "" }]);
  return found;
}

Deno.test("in no folder of src do files or folders import each other in a circle", () => {
  const files = filesBelow("src").filter((path) => path.endsWith(".ts") && !path.endsWith("_test.ts"));
  const folders = arrowsByFolder(files.flatMap((path) => importsOf(path, read(path))));
  assert.ok(folders.size > 50);
  assert.deepEqual([...folders].flatMap(([folder, arrows]) => circles(arrows).map((each) => `${folder}: ${each}`)), []);
});

const ARROW = (text: string): Import => {
  const [from = "", to = ""] = text.split(" -> ");
  return { from, to, how: "lazy" };
};

/** Imports, and the circles in them. */
const CASES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["a file that several share", ["s/a.ts -> s/b.ts", "s/a.ts -> s/c.ts", "s/b.ts -> s/d.ts", "s/c.ts -> s/d.ts"], []],
  ["two files", ["s/a.ts -> s/b.ts", "s/b.ts -> s/a.ts"], ["s: s/a.ts -> s/b.ts, s/b.ts -> s/a.ts"]],
  ["a circle behind a file", ["s/a.ts -> s/b.ts", "s/b.ts -> s/c.ts", "s/c.ts -> s/b.ts"], [
    "s: s/b.ts -> s/c.ts, s/c.ts -> s/b.ts",
  ]],
  ["two folders, four files", ["s/a/x.ts -> s/b/x.ts", "s/b/y.ts -> s/a/y.ts"], [
    "s: s/a/x.ts -> s/b/x.ts, s/b/y.ts -> s/a/y.ts",
  ]],
  ["a file over folders", ["s/run.ts -> s/a/x.ts", "s/run.ts -> s/b/x.ts", "s/a/x.ts -> s/b/x.ts"], []],
  ["a file and a folder", ["s/run.ts -> s/a/x.ts", "s/a/y.ts -> s/run.ts"], [
    "s: s/run.ts -> s/a/x.ts, s/a/y.ts -> s/run.ts",
  ]],
];

for (const [name, imports, found] of CASES) {
  Deno.test(`circles() finds ${found.length} in the case of ${name}`, () => {
    const folders = arrowsByFolder(imports.map(ARROW));
    assert.deepEqual(
      [...folders].flatMap(([folder, each]) => circles(each).map((text) => `${folder}: ${text}`)),
      found,
    );
  });
}
