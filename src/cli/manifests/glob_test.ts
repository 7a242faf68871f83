import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { matchingPaths } from "./glob.ts";

const files = Object.fromEntries(
  ["./a.yaml", "./b.yaml", "./c.json", "dir/a.yaml", "dir/sub/b.yaml", "other/a.yaml", "/top/x+y.yaml"].map((
    path,
  ) => [path, ""]),
);

const ROWS: readonly [string, readonly string[]][] = [
  ["*.yaml", ["a.yaml", "b.yaml"]],
  ["[ab].*", ["a.yaml", "b.yaml"]],
  ["[^a].yaml", ["b.yaml"]],
  ["?.json", ["c.json"]],
  ["dir/*.yaml", ["dir/a.yaml"]],
  ["dir/*/b.yaml", ["dir/sub/b.yaml"]],
  ["/top/x+*", ["/top/x+y.yaml"]],
  ["*.xml", []],
  ["none/*.yaml", []],
  ["[c-a]*", []],
  ["[^b-z]*.yam[a-l]", ["a.yaml"]],
  ["*a*.y*l", ["a.yaml"]],
  ["[]*", []],
];

for (const [pattern, expected] of ROWS) {
  Deno.test(`matchingPaths() of ${pattern}`, async () => {
    assert.deepEqual(await matchingPaths(fakeWorld({ files }), pattern), expected);
  });
}

Deno.test("matchingPaths() with many stars does not take exponential time", async () => {
  const long = "a".repeat(250);
  assert.deepEqual(await matchingPaths(fakeWorld({ files: { [`./${long}`]: "" } }), `${"*a".repeat(60)}b`), []);
});
