/** Files that import each other in a circle cannot be read, tested or loaded one by one. Imports of types count too. */
import assert from "node:assert/strict";
import { importsOf } from "./arrows.ts";
import { filesBelow, read } from "./source.ts";

type Graph = ReadonlyMap<string, readonly string[]>;

/** A circle for each file that imports a file on the path to it: `a.ts -> b.ts -> a.ts`. */
function circles(graph: Graph): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    const start = path.indexOf(file);
    if (start >= 0) return void found.push([...path.slice(start), file].join(" -> "));
    if (done.has(file)) return;
    for (const to of graph.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}

Deno.test("no file in src imports itself through others", () => {
  const files = filesBelow("src").filter((path) => path.endsWith(".ts") && !path.endsWith("_test.ts"));
  const graph = new Map(files.map((path) => {
    return [path, importsOf(path, read(path)).flatMap(({ to, how }) => how === "lazy" ? [] : [to])] as const;
  }));
  assert.ok(graph.size > 100);
  assert.deepEqual(circles(graph), []);
});

Deno.test("circles() finds a circle behind a shared file, and no other", () => {
  const shared = new Map([["a", ["b", "c"]], ["b", ["d"]], ["c", ["d"]], ["d", []]]);
  assert.deepEqual(circles(shared), []);
  assert.deepEqual(circles(new Map([...shared, ["d", ["c"]]])), ["d -> c -> d"]);
});
