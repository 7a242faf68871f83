import assert from "node:assert/strict";
import { testWhen } from "../support/test_when.ts";
import { packageOf } from "./arrows.ts";
import { filesBelow, read, trackedFiles } from "./source.ts";

const MAX_LINES = 500;

Deno.test("no source file is longer than 500 lines, unless it is data", () => {
  const files = ["src", "tools", "test", "bench"].flatMap(filesBelow).filter((path) => path.endsWith(".ts"));
  const long = files.filter((path) => !isData(path) && read(path).split("\n").length - 1 > MAX_LINES);
  assert.deepEqual(long, []);
});

/** Generated tables, and tables of test cases. */
function isData(path: string): boolean {
  return /generated/i.test(path) || /(_|\/)(cases|seeds|table|data)\.ts$/.test(path);
}

Deno.test("every command, layer and package has an entry mod.ts that begins with a doc comment", () => {
  const folders = new Set(
    filesBelow("src").flatMap((path) => {
      const folder = path.endsWith(".ts") ? packageOf(path) : undefined;
      return folder === undefined ? [] : [folder];
    }),
  );
  const files = new Set(filesBelow("src"));
  const without = [...folders].filter((folder) => {
    return !files.has(`${folder}/mod.ts`) || !read(`${folder}/mod.ts`).trimStart().startsWith("/**");
  });
  assert.deepEqual(without, []);
});

// In parts, so that this file does not contain the forbidden texts.
const FORBIDDEN: readonly (readonly string[])[] = [
  ["registry.", "npmjs"],
  ["pypi", ".org"],
  ["files.python", "hosted"],
  ["proxy.golang", ".org"],
  ["npm.js", "r.io"],
  ["/work/", "main"],
  ["/work/", "shared"],
  ["/bash_", "jobs"],
];

const tracked = trackedFiles();

testWhen(
  tracked === undefined ? "this is no git checkout" : undefined,
  "no tracked file names a registry's host or a path of a machine",
  () => {
    const wrong = (tracked ?? []).filter((path) => !/\.(png|ico|gz|zip|bin)$/.test(path)).flatMap((path) => {
      const text = textOf(path);
      return FORBIDDEN.map((parts) => parts.join("")).filter((word) => text.includes(word)).map((word) =>
        `${path}: ${word}`
      );
    });
    assert.deepEqual(wrong, []);
  },
);

/** The text of a tracked file; empty if it is deleted in the working tree. */
function textOf(path: string): string {
  try {
    return read(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}
