import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { manifestFiles } from "../../../test/support/cases/manifests.ts";
import { MeshError } from "../../base/errors.ts";
import { splitDocuments, splitText } from "./split.ts";
import type { SourceDocument } from "../source_document.ts";

const encoder = new TextEncoder();

async function splitBytes(bytes: Uint8Array, size: number, limits = {}): Promise<SourceDocument[]> {
  const documents: SourceDocument[] = [];
  for await (const doc of splitDocuments(chunks(bytes, size), { file: "f.yaml", ...limits })) documents.push(doc);
  return documents;
}

async function splitReadable(bytes: Uint8Array, size: number): Promise<void> {
  for (const { problem } of await splitBytes(bytes, size)) if (problem !== undefined) throw problem;
}

async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

function joined(documents: readonly SourceDocument[]): string {
  return documents.map((doc) => doc.separator + doc.text).join("");
}

/** A name, a file, and the texts of its documents. */
const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  ["an empty file", "", []],
  ["one document", "a: 1\n", ["a: 1\n"]],
  ["a separator at the head", "---\na: 1\n", ["a: 1\n"]],
  ["a separator at the end", "a: 1\n---\n", ["a: 1\n", ""]],
  ["two separators", "a: 1\n---\n---\nb: 2", ["a: 1\n", "", "b: 2"]],
  ["a comment behind the separator", "a: 1\n--- # next\nb: 2\n", ["a: 1\n", "b: 2\n"]],
  ["Windows line ends", "a: 1\r\n---\r\nb: 2\r\n", ["a: 1\r\n", "b: 2\r\n"]],
  ["dashes that are indented", "a: |\n  ---\n  x\n", ["a: |\n  ---\n  x\n"]],
  ["directives", "%YAML 1.1\n---\na: 1\n---\nb: 2\n", ["%YAML 1.1\n---\na: 1\n", "b: 2\n"]],
  ["a byte order mark before directives", "\uFEFF%YAML 1.1\n---\na: 1\n", ["\uFEFF%YAML 1.1\n---\na: 1\n"]],
  ["a byte order mark after directives", "%YAML 1.1\n\uFEFF%a\n---\nb: 2\n", ["%YAML 1.1\n\uFEFF%a\n", "b: 2\n"]],
  ["a byte order mark", "\uFEFFa: 1\n---\nb: 2\n", ["\uFEFFa: 1\n", "b: 2\n"]],
  ["JSON objects in a row", '{"a": "}{"}\n{"b": {}} {"c": 1}', ['{"a": "}{"}\n', '{"b": {}} ', '{"c": 1}']],
  ["JSON objects between separators", '{"a": 1}\n---\n{"b": 2}\n', ['{"a": 1}\n', '{"b": 2}\n']],
  ["flow maps that are no JSON", "{a: 1}\n{b: 2}\n", ["{a: 1}\n{b: 2}\n"]],
];

for (const [name, text, expected] of CASES) {
  Deno.test(`splitDocuments() splits ${name}`, async () => {
    for (const size of [1, 3, 1000]) {
      const documents = await splitBytes(encoder.encode(text), size);
      assert.deepEqual(documents.map((doc) => doc.text), expected);
      assert.equal(joined(documents), text);
      assert.deepEqual(splitText(text, "f.yaml"), documents);
    }
  });
}

Deno.test("splitDocuments() gives index and line of each document", async () => {
  const documents = await splitBytes(encoder.encode("# head\n---\na: 1\n\n---\nb: 2\n"), 4);
  assert.deepEqual(documents.map(({ index, line }) => [index, line]), [[1, 1], [2, 3], [3, 6]]);
});

/** A name, an invalid file, the message, and the line. */
const REFUSED: readonly (readonly [string, Uint8Array, RegExp, number])[] = [
  ["text behind a separator", encoder.encode("a: 1\n--- b\n"), /^Invalid YAML document separator: "b"$/, 2],
  ["four dashes", encoder.encode("a: 1\n----\n"), /^Invalid YAML document separator: "-"$/, 2],
  ["a NUL byte", encoder.encode("a: 1\nb: \0\n"), /NUL byte/, 2],
  ["invalid UTF-8", new Uint8Array([97, 58, 32, 49, 10, 98, 58, 32, 0xff, 10]), /not valid UTF-8/, 2],
  ["a cut UTF-8 character", new Uint8Array([97, 10, 0xe2, 0x82]), /not valid UTF-8/, 2],
  ["UTF-16", new Uint8Array([0xff, 0xfe, 97, 0, 10, 0]), /UTF-16/, 1],
];

for (const [name, bytes, message, line] of REFUSED) {
  Deno.test(`splitDocuments() rejects ${name}`, async () => {
    for (const size of [2, 1000]) {
      await assert.rejects(splitReadable(bytes, size), (error) => {
        assert.ok(error instanceof MeshError);
        assert.match(error.message, message);
        assert.deepEqual([error.place?.file, error.place?.line], ["f.yaml", line]);
        return true;
      });
    }
  });
}

Deno.test("splitDocuments() gives the documents around an unreadable one", async () => {
  const bytes = new Uint8Array([
    ...encoder.encode("a: 1\n---\nb: "),
    0xff,
    ...encoder.encode("\n--- c\nc: 3\n---\nd: 4\n"),
  ]);
  for (const size of [2, 1000]) {
    const documents = await splitBytes(bytes, size);
    assert.deepEqual(documents.map(({ index, problem }) => [index, problem?.place?.line]), [
      [1, undefined],
      [2, 3],
      [3, 4],
      [4, undefined],
    ]);
    assert.equal(documents[3]?.text, "d: 4\n");
  }
});

Deno.test("splitDocuments() gives the documents before a NUL byte", async () => {
  const given: number[] = [];
  const documents = splitDocuments(chunks(encoder.encode("a: 1\n---\nb: 2\n---\n\0\n"), 1000), { file: "f.yaml" });
  await assert.rejects(async () => {
    for await (const { index } of documents) given.push(index);
  }, /NUL byte/);
  assert.deepEqual(given, [1, 2]);
});

Deno.test("splitText() throws the problem of a document", () => {
  assert.throws(() => splitText("a: 1\n--- b\n", "f.yaml"), /separator/);
});

Deno.test("splitDocuments() rejects a document and a line that are too long", async () => {
  const lines = encoder.encode("a: 1\n".repeat(100));
  await assert.rejects(splitBytes(lines, 50, { maxBytes: 400 }), /document is longer than 400/);
  await assert.rejects(splitBytes(encoder.encode("x".repeat(5000)), 50, { maxBytes: 100 }), /line is longer than 100/);
  assert.equal((await splitBytes(lines, 50, { maxBytes: 500 })).length, 1);
});

Deno.test("splitDocuments() keeps every byte of any text", async () => {
  const line = fc.constantFrom(
    "---\n",
    "--- # c\n",
    "a: 1\n",
    "\n",
    "# c\r\n",
    "{}\n",
    '{"a": 1}',
    "é",
    "%YAML 1.1\n",
    "...\n",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 9 }), async (lines, size) => {
      // `---` in the middle of a line, such as in "é---", does not separate documents.
      const text = lines.join("");
      const documents = await splitBytes(encoder.encode(text), size);
      assert.equal(joined(documents), text);
    }),
    { numRuns: 300 },
  );
});

Deno.test("splitDocuments() throws nothing but MeshError for random bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
      await splitBytes(bytes, 7).catch((error) => assert.ok(error instanceof MeshError, String(error)));
    }),
    { numRuns: 500 },
  );
});

Deno.test("splitText() keeps every byte of manifests", async () => {
  for (const path of manifestFiles()) {
    const bytes = await Deno.readFile(path);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    assert.equal(joined(await splitBytes(bytes, 4096)), text, path);
    assert.equal(joined(splitText(text, path)), text, path);
  }
});
