/** The table of folders in docs/architecture.md matches the source. */
import assert from "node:assert/strict";
import { rowLines } from "./rows.ts";
import { filesBelow, read } from "./source.ts";

/** A folder of data for tests stands beside what it tests. */
const DATA = "testdata";

Deno.test("docs/architecture.md names each folder of src and the folders in it, and no other", () => {
  const [, part = ""] = read("docs/architecture.md").split("## Folders\n");
  const named = rowLines(part.split(/^## /m)[0] ?? "").map((line) => /^\| (?:\*\*)?`([^`]+)`/.exec(line)?.[1] ?? line);
  const paths = filesBelow("src").map((path) => path.split("/").slice(1, -1));
  const folders = new Set(
    paths.flatMap(([folder, child]) =>
      folder === undefined ? [] : child === undefined || child === DATA ? [folder] : [folder, `${folder}/${child}`]
    ),
  );
  assert.deepEqual(named.toSorted(), [...folders].toSorted());
});

Deno.test("a folder of src has more than one file, or folders", () => {
  const folders = new Map<string, number>();
  for (const path of filesBelow("src").filter((path) => !path.endsWith("_test.ts") && !path.includes(`/${DATA}/`))) {
    const parts = path.split("/");
    for (const depth of parts.slice(1).keys()) {
      const folder = parts.slice(0, depth + 1).join("/");
      folders.set(folder, (folders.get(folder) ?? 0) + 1);
    }
  }
  assert.deepEqual([...folders].flatMap(([folder, count]) => count === 1 ? [folder] : []), []);
});
