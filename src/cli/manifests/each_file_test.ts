import assert from "node:assert/strict";
import { UsageError } from "../../base/errors.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { outputPaths, refuseNested, refuseReplaced, writeFiles } from "./each_file.ts";

const input = (file: string, name?: string) => ({ file, ...name === undefined ? {} : { name }, chunks: none });

async function* none(): AsyncIterable<Uint8Array> {}

Deno.test("writeFiles() writes all files, empty ones too, and creates folders", async () => {
  const world = fakeWorld();
  const files = [["x/a", "1", "x".repeat(100)], ["b"], ["c", "é"]]
    .map(([path = "", ...texts]) => ({ path, texts, isChanged: true }));
  await writeFiles(world, files);
  const text = (path: string) => world.files.readText(path);
  assert.equal((await text("x/a")).length, 101);
  assert.deepEqual(await Promise.all(["b", "c"].map(text)), ["", "é"]);
});

Deno.test("in place every file is its own output; standard input has none", () => {
  assert.deepEqual(outputPaths([input("x/web.yaml", "web.yaml")], undefined), ["x/web.yaml"]);
  assert.throws(() => outputPaths([input("standard input")], undefined), UsageError);
});

Deno.test("outputs in a folder have the names of the inputs; two inputs with the same name are an error", () => {
  const inputs = [input("a/web.yaml", "web.yaml"), input("a/b/web.yaml", "b/web.yaml")];
  assert.deepEqual(outputPaths(inputs, "out"), ["out/web.yaml", "out/b/web.yaml"]);
  const twice = [...inputs, input("c/web.yaml", "web.yaml")];
  assert.throws(() => outputPaths(twice, "out"), /"a\/web.yaml" and "c\/web.yaml" would both/);
  assert.throws(() => outputPaths([input("standard input")], "out"), /has no name in "out\/"/);
});

const NESTED: readonly (readonly [folder: string, input: string])[] = [
  ["src/rendered", "src"],
  ["./src/a/b", "src/"],
  ["out", "."],
  ["/home/me/src/rendered", "src"],
  ["src/rendered", "/home/me/src"],
  ["/tmp/out", "/"],
];

Deno.test("refuseNested() refuses a folder inside an input folder, however the two are written", () => {
  const world = fakeWorld({ env: { PWD: "/home/me" } });
  for (const [folder, input] of NESTED) {
    assert.throws(() => refuseNested(world, folder, ["other", input]), {
      exitCode: 2,
      message: `Cannot write to "${folder}/": it is inside the input folder "${input}", which -R reads`,
    });
  }
  for (const [folder, input] of [["src", "src"], ["src2/x", "src"], ["src", "src/a"], ["out", "-"], ["../out", "."]]) {
    refuseNested(world, folder ?? "", [input ?? ""]);
  }
});

Deno.test("refuseReplaced() refuses an output that is its own input, however the two are written", () => {
  const world = fakeWorld({ env: { PWD: "/home/me" } });
  for (const [path, file] of [["a/web.yaml", "./a/web.yaml"], ["/home/me/web.yaml", "web.yaml"]] as const) {
    assert.throws(() => refuseReplaced(world, ["out/a.yaml", path], [input("a.yaml"), input(file)]), {
      exitCode: 2,
      message: `The output would replace the input "${file}"`,
    });
  }
  refuseReplaced(world, ["out/a.yaml", "web.yaml"], [input("a.yaml"), input("a/web.yaml")]);
});
