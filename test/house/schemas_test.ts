/** JSON Schemas of what the program prints; UPDATE=1 writes them anew. */
import assert from "node:assert/strict";
import { schemaFiles } from "../../tools/json_schemas.ts";
import { checkPrinted } from "../support/printed_json.ts";
import { filesBelow, read, ROOT } from "./source.ts";

const FOLDER = "docs/schemas";

Deno.test("docs/schemas are the schemas of the source", () => {
  const files = schemaFiles();
  if (Deno.env.get("UPDATE") === "1") {
    for (const [name, text] of files) Deno.writeTextFileSync(`${ROOT}/${FOLDER}/${name}`, text);
  }
  const written = filesBelow(FOLDER).map((path) => [path.slice(FOLDER.length + 1), read(path)] as const);
  assert.deepEqual(new Map(written), new Map([...files].sort(([a], [b]) => a < b ? -1 : 1)));
});

Deno.test("docs/schemas.md has each schema", () => {
  const linked = [...read("docs/schemas.md").matchAll(/\(schemas\/([^)]*)\)/g)].map(([, name]) => name);
  assert.deepEqual(linked.toSorted(), [...schemaFiles()].map(([name]) => name).sort());
});

Deno.test("printing loads no zod: schemas are imported for their types alone", () => {
  const wrong = filesBelow("src").filter((path) => path.endsWith(".ts") && !path.endsWith("_test.ts")).flatMap(
    (path) => {
      const imports = read(path).match(/^import (?!type ).*"(?:zod|\.[^"]*_schema\.ts)";$/gm) ?? [];
      return path.endsWith("_schema.ts") ? [] : imports.map((each) => `${path}: ${each}`);
    },
  );
  assert.deepEqual(wrong, []);
});

Deno.test("output with an unknown field or without a field is refused, other output passes", () => {
  const said = (stdout: string) => ({ stdout, stderr: "" });
  const pilotAgent = ["pilot-agent", "version", "-o", "json"];
  const client = { golang_version: "", revision: "unknown", status: "unknown", tag: "1", version: "1" };
  checkPrinted(pilotAgent, said(JSON.stringify({ clientVersion: client })));
  checkPrinted(["version"], said('{"build":"1"}\n'));
  assert.throws(
    () => checkPrinted(pilotAgent, said(JSON.stringify({ clientVersion: { ...client, build: "2" } }))),
    /build/,
  );
  assert.throws(() => checkPrinted(["check", "--pre", "-ojson"], said('{"checks":[]}\n')), /success/);
  assert.throws(() => checkPrinted(["check", "injection", "deploy/web", "-o", "json"], said('{"by":1}\n')), /workload/);
});
