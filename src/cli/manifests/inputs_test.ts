import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { expandInputs } from "./inputs.ts";

const files = {
  "a.yaml": "a",
  "dir/b.yml": "b",
  "dir/c.json": "c",
  "dir/notes.txt": "n",
  "dir/sub/d.yaml": "d",
  "odd": "o",
  "empty/x.txt": "",
  "kust/kustomization.yaml": "",
  "kust/z.yaml": "",
};

async function names(given: string[], recursive = false) {
  return (await expandInputs(fakeWorld({ files, stdin: "s" }), given, recursive)).map((input) => input.file);
}

Deno.test("expandInputs() accepts files with any name, in the given order", async () => {
  assert.deepEqual(await names(["odd", "a.yaml", "-"]), ["odd", "a.yaml", "standard input"]);
});

Deno.test("expandInputs() takes the manifests of a directory, and with -R those below", async () => {
  assert.deepEqual(await names(["dir/"]), ["dir/b.yml", "dir/c.json"]);
  assert.deepEqual(await names(["dir"], true), ["dir/b.yml", "dir/c.json", "dir/sub/d.yaml"]);
});

Deno.test("expandInputs() names everything that is missing at once", async () => {
  await assert.rejects(names(["x", "a.yaml", "y"]), { message: 'Cannot read "x", "y": no such file or directory' });
});

Deno.test("expandInputs() says that a directory holds no manifests and how to look deeper", async () => {
  await assert.rejects(names(["empty"]), {
    message: 'No manifests in the directory "empty": it contains no .yaml, .yml or .json file',
    hint: "use -R to read its subdirectories too",
  });
});

Deno.test("expandInputs() refuses a second standard input, URLs other than https, and no input as wrong usage", async () => {
  for (const given of [["-", "-"], ["http://example.com/a.yaml"], ["ftp://x/y.yaml"], ["s3+v2://x/y"], [], [""]]) {
    await assert.rejects(names(given), { exitCode: 2 });
  }
});

Deno.test("expandInputs() reads an https URL only when its content is asked for", async () => {
  const asked: string[] = [];
  const world = fakeWorld({ fetch: (url) => (asked.push(url), "kind: Pod") });
  const [input] = await expandInputs(world, ["https://example.com/a.yaml"], false);
  assert.deepEqual(asked, []);
  const text = (await Array.fromAsync(input?.chunks() ?? [])).map((chunk) => new TextDecoder().decode(chunk)).join("");
  assert.equal(text, "kind: Pod");
});

Deno.test("expandInputs() expands a pattern that the shell did not", async () => {
  assert.deepEqual(await names(["dir/*.yml", "dir/[c-d].*"]), ["dir/b.yml", "dir/c.json"]);
  await assert.rejects(names(["dir/*.xml"]), { message: 'Cannot read "dir/*.xml": no such file or directory' });
});

Deno.test("expandInputs() warns once that a folder is a kustomization", async () => {
  const inputs = await expandInputs(fakeWorld({ files }), ["kust", "dir"], false);
  const warnings = inputs.flatMap(({ warning }) => warning ?? []);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /^The folder "kust" is a kustomization, .*: build it with -k kust$/);
});
