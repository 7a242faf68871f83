import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { TemplateError } from "./error.ts";
import { type GoValue, parse, type ParseOptions, pure } from "./mod.ts";

function errorOf(run: () => unknown): TemplateError {
  try {
    run();
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: "no error was thrown" });
}

Deno.test("TemplateError: names template, line and column", () => {
  const error = errorOf(() => parse("cfg", "a\n é {{ .a.b }}").render({ a: null }));
  assert.deepEqual(error.place, { line: 2, column: 10 });
  assert.match(
    error.message,
    /^template: cfg:2:9: executing "cfg" at <\.a\.b>: nil pointer evaluating interface {}\.b$/,
  );
});

Deno.test("TemplateError: of parsing has a line and no column", () => {
  const error = errorOf(() => parse("cfg", "\n{{ if }}"));
  assert.deepEqual(error.place, { line: 2 });
});

Deno.test("Template.render: renderings of one template do not affect each other", () => {
  const template = parse("t", "{{$x := .n}}{{if .on}}{{$x = 0}}{{end}}{{$x}}");
  assert.deepEqual([template.render({ n: 1, on: true }), template.render({ n: 2, on: false })], ["0", "2"]);
});

Deno.test("Template.render: endless output, recursion and loops end with an error", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{{define "x"}}{{template "x" .}}{{end}}{{template "x" .}}', /exceeded maximum template depth \(1000\)/],
    ["{{range 100000000}}{{end}}", /exceeded 10000000 steps/],
    ['{{range 100000}}{{printf "%100000d" 1}}{{end}}', /output exceeds 16777216 characters/],
  ];
  for (const [text, wanted] of cases) assert.match(errorOf(() => parse("t", text).render(null)).message, wanted);
});

Deno.test("Template.render: explicit limits override the defaults", () => {
  const template = parse("t", "{{range 10}}x{{end}}");
  assert.match(errorOf(() => template.render(null, { limits: { output: 5 } })).message, /output exceeds 5 characters/);
  assert.match(errorOf(() => template.render(null, { limits: { steps: 5 } })).message, /exceeded 5 steps/);
});

Deno.test("parse: hostile nesting is an error, not a stack overflow", () => {
  const hostile = ["{{if 1}}".repeat(50_000), `{{${"(".repeat(50_000)}`, `{{if 1}}${"{{else if 1}}".repeat(50_000)}`];
  for (const text of hostile) assert.match(errorOf(() => parse("t", text)).message, /exceeded/);
});

Deno.test("parse: nesting at the limit renders", () => {
  const text = "{{if true}}".repeat(200) + "x" + "{{end}}".repeat(200);
  assert.equal(parse("t", text).render(null), "x");
});

Deno.test("Template.render: names of Object.prototype are missing keys", () => {
  const text = '{{.constructor}} {{.__proto__}} {{.toString}} {{index . "valueOf"}}';
  assert.equal(parse("t", text).render({}), "<no value> <no value> <no value> <no value>");
  assert.equal(errorOf(() => parse("t", "{{toString}}")).message, 'template: t:1: function "toString" not defined');
});

Deno.test("Template.render: an error in a function names the call, whatever was called before", () => {
  const fail = pure([], () => {
    throw new Error("no");
  });
  const error = errorOf(() => parse("t", "{{len .}}{{print (fail)}}", { funcs: { fail } }).render({}));
  assert.equal(error.message, 'template: t:1:18: executing "t" at <fail>: error calling fail: no');
});

const pieces = fc.constantFrom(
  ..."{{ }} {{- -}} {{if {{else {{end}} {{range {{with {{define {{template {{block {{break}} .a .b.c . $ $x := = , | ( ) 1 1.5 -3 0x 'a' \"s\" `r` nil true len index eq printf print and or not slice html /* */ \n é x"
    .split(" "),
  " ",
);
const data: GoValue = { a: [1, "x", null, { c: 1n }], b: { c: "é" } };

Deno.test("parse and render: throw nothing but a TemplateError on any text", () => {
  const texts = fc.oneof(
    fc.array(pieces, { maxLength: 25 }).map((all) => all.join(" ")),
    fc.array(pieces).map((all) => all.join("")),
    fc.string({ unit: "binary" }),
  );
  const options: ParseOptions[] = [{}, { leftDelim: "[[", rightDelim: "]]" }];
  fc.assert(
    fc.property(texts, fc.constantFrom(...options), (text, how) => {
      try {
        parse("t", text, how).render(data, { limits: { steps: 10_000, output: 100_000 } });
      } catch (error) {
        assert.ok(error instanceof TemplateError, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});
