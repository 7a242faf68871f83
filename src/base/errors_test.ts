import assert from "node:assert/strict";
import { errorLine, MeshError, messageOf, oneLine, placeText, snippetLines, UsageError } from "./errors.ts";

Deno.test("placeText() joins what is known", () => {
  assert.equal(placeText({}), "");
  assert.equal(placeText({ file: "a" }), "a");
  assert.equal(placeText({ document: 1, line: 2, column: 3 }), "document 1, line 2, column 3");
  assert.equal(placeText({ file: "a", line: 2, field: "spec" }), "a: line 2: spec");
});

Deno.test("MeshError fails with code 1 and UsageError with 2", () => {
  assert.equal(new MeshError("m").exitCode, 1);
  assert.equal(new UsageError("m").exitCode, 2);
});

Deno.test("UsageError shows no credentials in a URL of the command line", () => {
  assert.equal(
    new UsageError('Unexpected argument "https://u:secret@a/x?t=secret"').message,
    'Unexpected argument "https://a/x?[redacted]"',
  );
});

Deno.test("messageOf() reads errors and anything else that was thrown", () => {
  assert.equal(messageOf(new Error("e")), "e");
  assert.equal(messageOf(7), "7");
});

Deno.test("errorLine() is one line with place, message and hint", () => {
  const place = { file: "a.yaml", document: 2, line: 14, field: "spec" };
  const error = new MeshError("First\n  second", { place, hint: "do this" });
  assert.equal(errorLine(error), "a.yaml: document 2, line 14: spec: First; second; do this");
  assert.equal(errorLine(new MeshError("No place")), "No place");
  assert.equal(errorLine(new MeshError("m", { hint: "Do that" })), "m; do that");
  assert.equal(errorLine(new MeshError("m", { hint: "YAML it is" })), "m; YAML it is");
  assert.equal(errorLine(new MeshError("m", { hint: "Kubernetes does" })), "m; Kubernetes does");
});

Deno.test("errorLine() names a field once", () => {
  const place = { line: 1, field: "spec.replicas" };
  assert.equal(errorLine(new MeshError('"spec.replicas" is odd', { place })), 'line 1: "spec.replicas" is odd');
  const annotation = { field: 'metadata.annotations["a/b"]' };
  assert.equal(errorLine(new MeshError('Annotation "a/b" is odd', { place: annotation })), 'Annotation "a/b" is odd');
});

Deno.test("snippetLines() indents the source line and its caret", () => {
  assert.deepEqual(snippetLines({ snippet: "\tx\n^" }), ["  \tx", "  ^"]);
  assert.deepEqual(snippetLines({}), []);
});

Deno.test("oneLine(): lines without their margins; 100,000 spaces take no time", () => {
  assert.equal(oneLine(" a  \n\n \t b\r\nc "), "a; b; c");
  assert.equal(oneLine(`a${" ".repeat(100_000)}b`).length, 100_002);
});

Deno.test("a message shows the beginning of each value that it quotes, of a field, and of many values", () => {
  const long = "x".repeat(120_000);
  const shown = `${"x".repeat(200)}…`;
  const place = { field: long };
  const error = new MeshError(`Bad "${long}", not "a"`, { place, hint: `write "${long}"`, rest: [`in "${long}"`] });
  assert.equal(errorLine(error), `${shown}: Bad "${shown}", not "a"; write "${shown}"`);
  assert.deepEqual(error.rest, [`in "${shown}"`]);
  const prose = `"a" ${"word ".repeat(60)}"b"`;
  assert.equal(new MeshError(prose).message, prose);
  assert.equal(new MeshError(`"${"a".repeat(199)}\u{1f600}bc"`).message, `"${"a".repeat(199)}\ufffd…"`);
  assert.equal(new MeshError('"a",'.repeat(30_000)).message.length, 16_385);
});
