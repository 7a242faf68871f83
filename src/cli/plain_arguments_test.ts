import assert from "node:assert/strict";
import type { FlagTable, Line } from "../golang/flags/mod.ts";
import { parseWithCommander } from "./commander.ts";
import { parsePlain } from "./plain_arguments.ts";

const FLAGS = {
  filename: { name: "filename", short: "f", type: "texts", doc: "files", old: ["--file"] },
  output: { name: "output", short: "o", type: "text", doc: "form" },
  quiet: { name: "quiet", short: "q", type: "boolean", doc: "say nothing" },
  count: { name: "count", type: "integer", doc: "how many", default: "3" },
  variable: { type: "text", doc: "only an old flag", old: ["--variable"] },
} as const satisfies FlagTable;

function told(line: Line | undefined) {
  return line && [line.given, line.isHelp, line.words, line.rest, line.problems, line.ignored];
}

for (
  const args of [
    "",
    "-f a.yaml",
    "-f - one -o json --filename b -q two",
    "--file a --output b --output c",
    "--count 4 --quiet --quiet",
    "one two",
  ]
) {
  Deno.test(`parsePlain() reads "${args}" as commander does`, () => {
    const words = args.split(" ").filter((word) => word !== "");
    assert.deepEqual(told(parsePlain(FLAGS, words)), told(parseWithCommander(FLAGS, words)));
  });
}

for (
  const args of [
    "--help",
    "-h",
    "--frob",
    "-fa",
    "-qf a",
    "-o=json",
    "--output=json",
    "--quiet=false",
    "--output",
    "--output --quiet",
    "--count x",
    "--variable a",
    "a -- b",
  ]
) {
  Deno.test(`parsePlain() leaves "${args}" to commander`, () =>
    assert.equal(parsePlain(FLAGS, args.split(" ")), undefined));
}
