import assert from "node:assert/strict";
import { fc } from "../../support/properties.ts";
import type { GoValue } from "../../../src/golang/gotemplate/mod.ts";
import { parseYaml } from "../../../src/yaml/mod.ts";
import { BUILT_IN } from "../../../src/inject/default/mod.ts";
import { TEMPLATES } from "../inject/own/templates.ts";
import { CONFIG_1_1, CONFIG_1_8 } from "../legacy/configs.ts";
import { needsProgram, needsShared, SHARED, testWhen } from "../../support/test_when.ts";
import { type Answer, goAnswers, ourAnswer, type Request, sameAnswer } from "./oracle.ts";

/** Asserts that our answers equal Go's. Lists all differences. */
async function assertSameAnswers(requests: readonly Request[]): Promise<void> {
  const answers = await goAnswers(requests);
  assert.equal(answers.length, requests.length);
  const wrong = requests.flatMap((request, i) => difference(request, answers[i] ?? {}));
  assert.deepEqual(wrong, []);
}

function difference(request: Request, go: Answer) {
  const us = ourAnswer(request);
  if (sameAnswer(us, go)) return [];
  return [{
    template: request.template.slice(0, 300),
    data: request.data,
    go: go.out ?? go.error,
    us: us.out ?? us.error,
  }];
}

const names = fc.constantFrom("a", "b", "c", "s", "n");
const text = fc.oneof(fc.constantFrom("", "x", "héé", "a b", "<&>", "世界"), fc.string({ maxLength: 5 }));
const json: fc.Arbitrary<GoValue> = fc.letrec<{ value: GoValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

const number = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom("0x1F", "0b11", "0o7", "'x'", "1e6", "1_0", ".5"),
);
const literal = fc.oneof(number, fc.constantFrom(`"s"`, `""`, "`raw`", "true", "false", "nil", `"%d"`, `"é"`));
const field = fc.array(names, { minLength: 1, maxLength: 3 }).map((all) => `.${all.join(".")}`);
const functions = fc.constantFrom(
  ..."print println len index eq ne lt le gt ge and or not html js urlquery tAny tString tInt tFail".split(" "),
);
const { pipeline } = fc.letrec<{ pipeline: string; operand: string; command: string }>((tie) => ({
  operand: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(literal, field, fc.constantFrom(".", "$", "$.a", "$v")),
    tie("pipeline").map((inner) => `(${inner})`),
    fc.tuple(tie("pipeline"), field).map(([inner, names]) => `(${inner})${names}`),
  ),
  command: fc.oneof(
    tie("operand"),
    fc.tuple(functions, fc.array(tie("operand"), { maxLength: 3 })).map(([name, args]) => [name, ...args].join(" ")),
  ),
  pipeline: fc.array(tie("command"), { minLength: 1, maxLength: 2 }).map((all) => all.join(" | ")),
}));
const { body } = fc.letrec<{ body: string; statement: string }>((tie) => ({
  statement: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(
      fc.constantFrom(" t\n", "é "),
      pipeline.map((one) => `{{${one}}}`),
      pipeline.map((one) => `{{- ${one} -}}`),
    ),
    fc.tuple(pipeline, tie("body"), tie("body")).map(([one, a, b]) => `{{if ${one}}}${a}{{else}}${b}{{end}}`),
    fc.tuple(pipeline, tie("body"), tie("body")).map(([one, a, b]) => `{{with $v := ${one}}}${a}{{else}}${b}{{end}}`),
    fc.tuple(field, tie("body")).map(([one, a]) => `{{range $k, $v := ${one}}}${a}{{else}}none{{end}}`),
    fc.tuple(field, tie("body")).map(([one, a]) => `{{range ${one}}}{{.}}${a}{{if .a}}{{break}}{{end}}{{end}}`),
  ),
  body: fc.array(tie("statement"), { maxLength: 3 }).map((all) => all.join("")),
}));

const requests: fc.Arbitrary<Request> = fc.record({
  name: fc.constant("t"),
  template: body.map((text) => `{{$v := 1}}${text}`),
  data: fc.dictionary(names, json, { noNullPrototype: true }),
  plain: fc.constant(true),
});

const verbs = fc.constantFrom(..."vTtbcdoOqxXUeEfFgGsp".replace("p", ""));
const formats: fc.Arbitrary<Request> = fc.tuple(
  fc.array(fc.constantFrom("+", "-", "#", " ", "0"), { maxLength: 2 }).map((all) => all.join("")),
  fc.constantFrom("", "1", "8", "12", "*", "[1]*"),
  fc.constantFrom("", ".", ".0", ".3", ".10", ".*"),
  verbs,
  fc.array(fc.oneof(literal, field), { maxLength: 3 }),
).chain(([flags, width, precision, verb, args]) =>
  fc.record({
    name: fc.constant("t"),
    template: fc.constant(`{{printf "%${flags}${width}${precision}${verb}|" ${args.join(" ")}}}`),
    data: fc.dictionary(names, json, { noNullPrototype: true }),
    plain: fc.constant(true),
  })
);

const noGo = needsProgram("go");

testWhen(noGo, "parse and render: generated templates give Go's text and errors", async () => {
  await assertSameAnswers(fc.sample(requests, 1500));
});

testWhen(noGo, "sprintf: generated formats give Go's text", async () => {
  await assertSameAnswers(fc.sample(formats, 1500));
});

/** Every text in a document that looks like a template. */
function templatesIn(value: unknown): string[] {
  if (typeof value === "string") return /\{\{|\[\[/.test(value) ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(templatesIn) : [];
}

function* configFiles(folder: string): Generator<string> {
  for (const entry of Deno.readDirSync(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* configFiles(path);
    else if (/^config.*\.ya?ml$/.test(entry.name)) yield path;
  }
}

const reserved = new Set(
  "if else end range with define block template break continue nil true false and or not len index slice eq ne lt le gt ge print printf println html js urlquery call"
    .split(" "),
);

/** The text with both kinds of delimiters. Every word is declared as a function, so only syntax matters. */
function parseRequests(template: string): Request[] {
  const words = new Set(template.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? []);
  const stubs = [...words].filter((word) => !reserved.has(word));
  const common = { name: "inject", template, stubs, parseOnly: true, plain: true };
  return [common, { ...common, delims: ["[[", "]]"] }, { ...common, stubs: [] }];
}

testWhen(noGo, "parse: templates of all forms parse or fail as in Go", async () => {
  const configs = [BUILT_IN.config, CONFIG_1_1, CONFIG_1_8];
  const own = [...configs.flatMap((text) => templatesIn(parseYaml(text))), ...Object.values(TEMPLATES)];
  assert.ok(own.length > 5);
  await assertSameAnswers([...own, ...sharedTemplates()].flatMap(parseRequests));
});

/** The templates of all releases; none without `../shared`. */
function sharedTemplates(): string[] {
  if (needsShared("cases") !== undefined) return [];
  const files = ["inject/settings", "inject-legacy"].flatMap((folder) => [...configFiles(`${SHARED}/cases/${folder}`)]);
  return files.flatMap((path) => templatesIn(parseYaml(Deno.readTextFileSync(path))));
}
