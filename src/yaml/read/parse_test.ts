import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { manifestFiles } from "../../../test/support/cases/manifests.ts";
import { MeshError, placeText } from "../../base/errors.ts";
import { isList, isMap, type Value } from "../../base/value.ts";
import { editDocument } from "../edit/edit.ts";
import { parseDocument, parseYaml } from "./parse.ts";
import { copyValue, sameValue } from "../../base/values/mod.ts";
import { splitText } from "../split/split.ts";
import { toYaml } from "../write/to_yaml.ts";

function failure(text: string): MeshError {
  try {
    const doc = splitText(text, "f.yaml").at(-1);
    if (doc !== undefined) parseDocument(doc);
  } catch (error) {
    assert.ok(error instanceof MeshError, String(error));
    return error;
  }
  throw new Error(`${JSON.stringify(text)} is read without an error`);
}

/** A text, the position of its error, the message, and the hint. */
const ERRORS: readonly (readonly [string, string, RegExp, RegExp?])[] = [
  ["a: 1\n---\nb: [1\n", "f.yaml: document 2, line 3, column 6", /bracket or quote is not closed/],
  ["a:\n\tb: 1\n", "f.yaml: document 1, line 2, column 1", /^A tab is used for indentation$/, /spaces/],
  ["a:\n  b: 1\n\tc: 2\n", "f.yaml: document 1, line 3, column 1", /^A tab is used for indentation$/],
  ["a: {{ .Values.x }}\n", "f.yaml: document 1, line 1, column 5", /A map or list cannot be a key/, /Helm template/],
  ["{{- if .x }}\na: 1\n", "f.yaml: document 1, line 1, column 3", /Cannot read the YAML/, /Helm template/],
  ["a: *x\nb:\n  c: |\n    {{ .x }}\n", "f.yaml: document 1, line 1, column 4", /"x" is not defined/, /^$/],
  ["a: .inf\n", "f.yaml: document 1, line 1, column 4", /\.inf/],
  [".nan\n", "f.yaml: document 1, line 1, column 1", /\.nan/],
  ["~: 1\n", "f.yaml: document 1, line 1, column 1", /Null cannot be a key/],
  ["a: *x\n", "f.yaml: document 1, line 1, column 4", /The anchor "x" is not defined/],
  ["a: &x [*x]\n", "f.yaml: document 1, line 1, column 8", /The anchor "x" contains itself/],
  ["a: !!int x\n", "f.yaml: document 1, line 1, column 10", /Cannot read "x" as !!int/],
  ["a: !!binary '?'\n", "f.yaml: document 1, line 1, column 13", /not valid base64/],
  ["<<: 1\n", "f.yaml: document 1, line 1, column 5", /merge key/],
  ["a: \u0001\n", "f.yaml: document 1, line 1, column 4", /non-printable/],
  [`a: ${"[".repeat(101)}\n`, "f.yaml: document 1, line 1, column 103", /nested more than 100 deep/],
];

for (const [text, place, message, hint] of ERRORS) {
  Deno.test(`parseDocument() reports the problem of ${JSON.stringify(text.slice(0, 30))}`, () => {
    const error = failure(text);
    assert.equal(placeText(error.place ?? {}), place);
    assert.match(error.message, message);
    if (hint !== undefined) assert.match(error.hint ?? "", hint);
  });
}

Deno.test("parseDocument() shows the line and a caret under the column", () => {
  assert.equal(failure("a:\n  b: *x # c\n").place?.snippet, "  b: *x # c\n     ^");
  const long = failure(`${"k".repeat(300)}: *x\n`).place?.snippet ?? "";
  assert.ok(long.split("\n").every((line) => line.length <= 100));
});

Deno.test("parseDocument() rejects aliases that expand to millions of nodes, quickly", () => {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
  for (let level = 1; level < 12; level++) {
    lines.push(`a${level}: &a${level} [${Array(9).fill(`*a${level - 1}`).join(", ")}]`);
  }
  const start = performance.now();
  assert.match(failure(lines.join("\n")).message, /aliases of the document expand to too many nodes/);
  assert.ok(performance.now() - start < 2000);
});

Deno.test("parseDocument() warns about duplicate keys; the last one counts", () => {
  const parsed = parseDocument({ text: "a: 1\nb: {c: 1, c: 2}\na: 3\n", file: "f" });
  assert.ok(sameValue(parsed.value, parseYaml("{a: 3, b: {c: 2}}")));
  assert.deepEqual(parsed.warnings.map((warning) => placeText(warning.place)), [
    "f: document 1, line 2, column 11",
    "f: document 1, line 3, column 1",
  ]);
  assert.match(parsed.warnings[0]?.message ?? "", /^The key "c" is duplicated/);
});

Deno.test("parseDocument() warns about text that kubectl ignores", () => {
  const parsed = parseDocument({ text: "a: 1\n...\nb: 2\n" });
  assert.deepEqual({ ...(isMap(parsed.value) ? parsed.value : {}) }, { a: 1 });
  assert.deepEqual(parsed.warnings.map((warning) => warning.place.line), [2]);
});

Deno.test("parseDocument() merges as go-yaml does: the position counts", () => {
  const text = "d: &d {a: 1, b: 2}\ne: &e {b: 3}\nf:\n  a: 0\n  <<: [*e, *d]\n  b: 4\n";
  const value = parseDocument({ text }).value;
  assert.ok(isMap(value) && sameValue(value.f ?? null, parseYaml("{a: 1, b: 4}")));
  assert.deepEqual(parseDocument({ text }).warnings, []);
});

Deno.test("parseDocument() gives maps without prototype and copies for aliases", () => {
  const value = parseDocument({ text: "__proto__: {x: 1}\na: &a {}\nb: *a\n" }).value;
  assert.ok(isMap(value));
  assert.deepEqual(Object.keys(value), ["__proto__", "a", "b"]);
  assert.notEqual(value.a, value.b);
});

Deno.test("place() finds the node at a path, or its nearest ancestor", () => {
  const doc = splitText("x: 1\n---\nspec:\n  containers:\n  - name: a\n    image: b\n  empty:\n", "f.yaml")[1];
  assert.ok(doc);
  const { place } = parseDocument(doc);
  const spots: readonly (readonly [(string | number)[], string])[] = [
    [["spec", "containers", 0, "image"], "f.yaml: document 2, line 6, column 12: spec.containers[0].image"],
    [["spec", "containers"], "f.yaml: document 2, line 4, column 3: spec.containers"],
    [["spec", "containers", 0, "a.b/c", "d"], 'f.yaml: document 2, line 5, column 5: spec.containers[0]["a.b/c"].d'],
    [["spec", "empty"], "f.yaml: document 2, line 7, column 3: spec.empty"],
    [["nothing"], "f.yaml: document 2, line 3, column 1: nothing"],
    [[], "f.yaml: document 2, line 3, column 1"],
  ];
  for (const [path, expected] of spots) assert.equal(placeText(place(path)), expected);
});

Deno.test("parseYaml() reads one document and ignores empty ones", () => {
  assert.ok(sameValue(parseYaml("# c\n---\na: 1\n---\n"), parseYaml("a: 1")));
  assert.equal(parseYaml(""), null);
  assert.throws(
    () => parseYaml("a: 1\n---\nb: 2\n", "f"),
    (error) => error instanceof MeshError && error.place?.line === 3,
  );
});

Deno.test("parseDocument() throws nothing but MeshError for random text", () => {
  const piece = fc.constantFrom(
    "a",
    ":",
    " ",
    "\n",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&x ",
    "*x",
    "!!int ",
    "|",
    ">",
    "'",
    '"',
    "#",
    "\t",
    "<<: ",
    "? ",
    "...",
    "1",
    "\r",
    "\\",
    "é",
    "%",
    "@",
  );
  fc.assert(
    fc.property(fc.oneof(fc.array(piece, { maxLength: 40 }).map((all) => all.join("")), fc.string()), (text) => {
      try {
        const parsed = parseDocument({ text });
        parsed.place(["a", 0, "b"]);
        assert.equal(editDocument(parsed, parsed.value), text);
      } catch (error) {
        assert.ok(
          error instanceof MeshError,
          `${JSON.stringify(text)}: ${error instanceof Error ? error.stack : error}`,
        );
      }
    }),
    { numRuns: 3000 },
  );
});

Deno.test("editDocument() of random text that can be read gives what was asked", () => {
  const piece = fc.constantFrom(
    "a: ",
    "b: ",
    "\n",
    "\n  ",
    "\n- ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "&x ",
    "*x",
    "!!str ",
    "|\n",
    ">-\n",
    "x",
    "'y'",
    '"z"',
    " # c",
    "<<: ",
    "? ",
    "1",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), fc.nat(), (pieces, seed) => {
      let parsed;
      try {
        parsed = parseDocument({ text: pieces.join("") });
      } catch {
        return;
      }
      const next = changed(parsed.value, seed);
      const edited = editDocument(parsed, next);
      assert.ok(
        sameValue(parseDocument({ text: edited }).value, next),
        `${JSON.stringify(pieces.join(""))} -> ${JSON.stringify(edited)}`,
      );
    }),
    { numRuns: 3000 },
  );
});

/** A value with one part changed, added or removed. */
function changed(value: Value, seed: number): Value {
  const copy = copyValue(value);
  if (isList(copy)) {
    return seed % 2 === 0
      ? [...copy, "new"]
      : copy.map((item, index) => index === seed % copy.length ? changed(item, seed >> 1) : item);
  }
  if (!isMap(copy)) return "new";
  const keys = Object.keys(copy);
  const key = keys[seed % Math.max(1, keys.length)];
  if (seed % 3 === 0 || key === undefined) copy.added = { ...copy };
  else if (seed % 3 === 1) delete copy[key];
  else copy[key] = changed(copy[key] ?? null, seed >> 2);
  return copy;
}

Deno.test("editDocument() of manifests changes only what it has to", () => {
  for (const path of manifestFiles()) {
    for (const [index, doc] of splitText(Deno.readTextFileSync(path), path).entries()) {
      const parsed = parseDocument(doc);
      assert.equal(editDocument(parsed, copyValue(parsed.value)), doc.text);
      assert.ok(sameValue(parseDocument({ text: toYaml(parsed.value) }).value, parsed.value));
      for (const seed of [index, index + 1, index + 7, index * 31 + 5]) {
        const next = changed(parsed.value, seed);
        assert.ok(
          sameValue(parseDocument({ text: editDocument(parsed, next) }).value, next),
          `${path} ${index} ${seed}`,
        );
      }
    }
  }
});

Deno.test("written() has the text of an unquoted scalar", () => {
  const document = parseDocument({ text: "a: &x 1.10 # one\nb: [yes, *x]\nc: '1.10'\nd: {e: !!float 1e3}\n" });
  const cases: readonly (readonly [path: readonly (string | number)[], written: string | undefined])[] = [
    [["a"], "1.10"],
    [["b", 0], "yes"],
    [["b", 1], "1.10"],
    [["c"], undefined],
    [["d", "e"], "1e3"],
    [["d"], undefined],
    [["d", "f"], undefined],
    [["a", "b"], undefined],
  ];
  for (const [path, written] of cases) assert.equal(document.written(path), written, path.join("."));
  assert.equal(parseDocument({ text: "" }).written(["a"]), undefined);
});
