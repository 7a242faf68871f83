import assert from "node:assert/strict";
import plugin from "./plugin.ts";

/** The ids of the rules that report something in this source. */
function found(source: string, file = "/p/src/inject/a.ts"): string[] {
  return Deno.lint.runPlugin(plugin, file, source).map((each) => each.id);
}

const ifs = (count: number) => "if (a) b();\n".repeat(count);

Deno.test("mesh/complexity reports the eleventh way through a function", () => {
  assert.deepEqual(found(`function f() { ${ifs(9)} }`), []);
  assert.deepEqual(found(`function f() { ${ifs(10)} }`), ["mesh/complexity"]);
});

Deno.test("mesh/complexity counts cases, catch, loops, conditional and logical operators", () => {
  const body =
    "for (;;) while (a) { try { a ? b : c } catch (e) { a && b || c; d ?? e } switch (a) { case 1: case 2: default: } }";
  assert.deepEqual(found(`const f = () => { ${body} };`), []);
  assert.deepEqual(found(`const f = () => { ${body} if (a) b() };`), ["mesh/complexity"]);
});

Deno.test("mesh/complexity gives the ways of an inner function to that alone", () => {
  assert.deepEqual(found(`function f() { ${ifs(6)} const g = function () { ${ifs(6)} }; }`), []);
});

Deno.test("mesh/max-depth reports the fourth level, and takes else-if for one", () => {
  assert.deepEqual(found("function f() { if (a) { for (;;) { while (b) { c(); } } } }"), []);
  assert.deepEqual(found("function f() { if (a) { for (;;) { while (b) { if (c) d(); } } } }"), ["mesh/max-depth"]);
  assert.deepEqual(found("function f() { if (a) {} else if (b) {} else if (c) {} else if (d) {} else if (e) {} }"), []);
});

Deno.test("mesh/max-params reports a fifth parameter", () => {
  assert.deepEqual(found("class A { m(a, b, c, d) {} }"), []);
  assert.deepEqual(found("class A { m(a, b, c, d, e) {} }"), ["mesh/max-params"]);
});

Deno.test("mesh/max-lines reports a long function unless it is one table", () => {
  assert.deepEqual(found(`function f() {${"\na();".repeat(58)}\n}`), []);
  assert.deepEqual(found(`function f() {${"\na();".repeat(60)}\n}`), ["mesh/max-lines"]);
  assert.deepEqual(found(`function f() { return [${"\n1,".repeat(90)}]; }`), []);
});

Deno.test("mesh/no-deno reports Deno in a command, in values and types, not in the world or a test", () => {
  assert.deepEqual(found("Deno.readFileSync('a'); let x: Deno.FileInfo;"), ["mesh/no-deno", "mesh/no-deno"]);
  for (
    const file of ["/p/src/main.ts", "/p/src/platform/deno/world.ts", "/p/src/inject/a_test.ts", "/p/tools/a.ts"]
  ) {
    assert.deepEqual(found("Deno.exit()", file), []);
  }
});

Deno.test("mesh/error-message reports lower case, period, contraction and other quotes", () => {
  for (const message of ['"cannot read"', '"Cannot read."', '"Can\'t read"', '`Cannot read "${a}".`', "`No '${a}'`"]) {
    assert.deepEqual(found(`throw new MeshError(${message})`), ["mesh/error-message"], message);
  }
  assert.deepEqual(found('throw new UsageError(`Cannot read "${file}": no such file`)'), []);
  assert.deepEqual(found('throw new InjectionError("template-failed", "the template")'), ["mesh/error-message"]);
  assert.deepEqual(found('throw new Error("of a library.")'), []);
});

Deno.test("mesh/no-put-off reports comments that put work off", () => {
  const word = ["TO", "DO"].join("");
  assert.deepEqual(found(`// ${word}: later\nf();`), ["mesh/no-put-off"]);
  assert.deepEqual(found("// Todos are not meant\nf();"), []);
});

Deno.test("mesh/catch-says-why reports a catch of the program that swallows every error without a comment", () => {
  assert.deepEqual(found("try { a(); } catch { b(); }"), ["mesh/catch-says-why"]);
  assert.deepEqual(found("try { a(); } catch {\n  // It has ended.\n  b();\n}"), []);
  assert.deepEqual(found("try { a(); } catch (error) { b(error); }"), []);
  for (const file of ["/p/src/inject/a_test.ts", "/p/tools/a.ts"]) {
    assert.deepEqual(found("try { a(); } catch { b(); }", file), []);
  }
});

Deno.test("mesh/plain-words reports words of names, comments and texts, but not in the list itself", () => {
  const source = '// What those of it say.\nconst toldNames = f("it tells all", cannotTell);\nconst MOST_BYTES = 1;\n';
  assert.deepEqual(found(source), Array(4).fill("mesh/plain-words"));
  assert.deepEqual(found(source, "/p/tools/lint/words.ts"), []);
});
