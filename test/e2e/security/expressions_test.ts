/**
 * Every regular expression of `src` takes linear time: a checker finds no text that takes quadratic time or more. An
 * expression on which the checker gives up fails as well.
 */
import { strict as assert } from "node:assert";
import process from "node:process";
import { filesBelow, read } from "../../house/source.ts";
import { isLong } from "../../support/long.ts";
import { expressionsOf, type Hole } from "./support/expressions.ts";

/** Expressions that are not checked. Each names its callers. */
const EXEMPT: Readonly<Record<string, string>> = {
  "src/platform/linux/resident_pages.ts":
    "releaseMemory() and memoryReleaser() read /proc/self/smaps of this process, which the kernel writes",
};

/** A part of a pattern whose text is known only at run time. */
interface Known {
  readonly file: string;
  readonly code: string;
  /** What the part is, and why no value of it makes the expression slow. */
  readonly because: string;
  /** The text that the checker reads in place of the part. */
  readonly standIn: string;
}

const HOLES: readonly Known[] = [
  {
    file: "src/yaml/read/literal.ts",
    code: "indent - 1",
    because: "a number, the largest one of a count of spaces that are followed by something else",
    standIn: "7",
  },
  {
    file: "src/yaml/read/literal.ts",
    code: "indent",
    because: "a number, the largest one of a count of spaces at the start of a line",
    standIn: "8",
  },
  {
    file: "src/explain/sources/live/together.ts",
    code: "this.#mark",
    because: "a random UUID",
    standIn: "0f1e-2d3c",
  },
  {
    file: "src/golang/gotemplate/sprig/date/layout.ts",
    code: 'MONTHS.join("|")',
    because: "the names of the months",
    standIn: "January|June|July",
  },
  {
    file: "src/golang/gotemplate/sprig/date/layout.ts",
    code: "token.length - 1",
    because: "a number",
    standIn: "9",
  },
  {
    file: "src/golang/gotemplate/sprig/date/layout.ts",
    code: 'token.startsWith("Z") ? `^(Z|${offset})` : `^(${offset})`',
    because: "one of the forms of a zone in a layout, all of a fixed length",
    standIn: String.raw`^(Z|[+-]\d\d:\d\d:\d\d)`,
  },
];

/**
 * `recheck` has a native program for each platform. Its JavaScript takes four times as long, and gives up on some
 * expressions.
 */
process.env.RECHECK_BACKEND = "native";
/**
 * Expressions that this version of the checker has found linear. A normal run checks only others; a long run checks
 * all. UPDATE=1 writes the list.
 */
const SAFE = new URL("support/linear_expressions.json", import.meta.url);
/** Limits by steps: times would depend on the load of the machine. */
const LIMITS = { timeout: 600_000, attackTimeout: null, incubationTimeout: null };

function knownHole({ file, code }: Hole): Known | undefined {
  return HOLES.find((known) => known.file === file && known.code === code);
}

const FOUND = filesBelow("src").filter((file) => file.endsWith(".ts") && !file.endsWith("_test.ts"))
  .map((file) => expressionsOf(file, { read, standIn: (hole) => knownHole(hole)?.standIn ?? "" }));
const EXPRESSIONS = FOUND.flatMap(({ expressions }) => expressions);
const FOUND_HOLES = FOUND.flatMap(({ holes }) => holes);

/** The expressions and the holes in `a.ts`; `b.ts` is beside it. A hole reads as `?`. */
function inTexts(text: string, other = ""): { readonly expressions: string[]; readonly holes: string[] } {
  const reading = { read: (file: string) => file === "x/a.ts" ? text : other, standIn: () => "?" };
  const { expressions, holes } = expressionsOf("x/a.ts", reading);
  return {
    expressions: expressions.map(({ source, flags, place }) => `${place} /${source}/${flags}`).sort(),
    holes: holes.map(({ code, line }) => `${line} ${code}`).sort(),
  };
}

const CASES:
  readonly (readonly [what: string, text: string, expressions: readonly string[], holes: readonly string[]])[] = [
    ["a literal", "f(/c\\d/g);", ["1 /c\\d/g"], []],
    [
      "constants of the module",
      'const A = "a+";\nconst B = `${A}b`, C = String.raw`\\d`;\nnew RegExp(`^${B}${C}` + "$", "u");',
      ["3 /^a+b\\d$/u"],
      [],
    ],
    ["RegExp() without new", 'RegExp("a", "g");', ["1 /a/g"], []],
    ["the source of a constant", 'const A = /a/g;\nnew RegExp(A.source, "y");', ["1 /a/g", "2 /a/y"], []],
    ["a parameter", "const f = (b: string) => new RegExp(`a${b}`);", ["1 /a?/"], ["1 b"]],
    ["flags of a parameter", 'const f = (b: string) => new RegExp("a", b);', ["1 /a/?"], ["1 b"]],
    ["a call", 'new RegExp(["a"].join("|"));', ["1 /?/"], ['1 ["a"].join("|")']],
    ["no pattern", "new RegExp();", [], []],
    [
      "two constants of one name",
      'const A = "a";\nfunction f() {\n  const A = "b";\n  return new RegExp(A);\n}',
      ["4 /?/"],
      ["4 A"],
    ],
    ["a parameter of a constant's name", 'const A = "a";\nconst f = ({ b: [A] }) => new RegExp(A);', ["2 /?/"], [
      "2 A",
    ]],
    ["a constant of a function", 'function f() {\n  const A = "a";\n  return new RegExp(A);\n}', ["3 /?/"], ["3 A"]],
    ["a variable", 'let A = "a";\nnew RegExp(A);', ["2 /?/"], ["2 A"]],
    ["a constant with a hole", "const A = `a${f()}`;\nnew RegExp(A);", ["2 /a?/"], ["2 A"]],
    ["an imported constant", 'import { B as A } from "./b.ts";\nnew RegExp(A);', ["2 /b+/"], []],
    ["an unknown import", 'import { C } from "./b.ts";\nnew RegExp(C);', ["2 /?/"], ["2 C"]],
    ["match() of literals", "t.match(/a/); t.matchAll(b ? /b/g : /c/g); t?.search(/d/);", [
      "1 /a/",
      "1 /b/g",
      "1 /c/g",
      "1 /d/",
    ], []],
    ["match() of constants", 'import { D } from "./b.ts";\nconst A = /a/;\nt.match(A); t.search(D);', ["2 /a/"], []],
    ["match() of a text", 't.match("a"); t.search(b);', ["1 /?/", "1 /?/"], ['1 "a"', "1 b"]],
    ["match() of one text of two", "t.matchAll(b ? /b/g : c);", ["1 /?/", "1 /b/g"], ["1 b ? /b/g : c"]],
    ["RegExp by another name", "const R = RegExp;", [], ["1 RegExp"]],
    ["RegExp of the global object", 'new globalThis.RegExp("a");', [], ["1 RegExp"]],
    ["RegExp as a type", "const f = (a: RegExp) => a instanceof RegExp;", [], []],
  ];

for (const [what, text, expressions, holes] of CASES) {
  Deno.test(`expressionsOf(): ${what}`, () => {
    const other = 'export const B = "b+";\nexport const D = /d/;\n';
    const expected = { expressions: expressions.map((each) => `x/a.ts:${each}`), holes: [...holes] };
    assert.deepEqual(inTexts(text, other), expected);
  });
}

Deno.test("each hole in a pattern is listed, and each listed hole exists", () => {
  assert.deepEqual(FOUND_HOLES.filter((hole) => knownHole(hole) === undefined), []);
  assert.deepEqual(HOLES.filter((known) => !FOUND_HOLES.some((hole) => knownHole(hole) === known)), []);
});

Deno.test("there are at most ten exemptions, and each is needed", () => {
  const files = new Set(EXPRESSIONS.map(({ place }) => place.slice(0, place.lastIndexOf(":"))));
  assert.ok(Object.keys(EXEMPT).length + HOLES.length <= 10);
  for (const file of Object.keys(EXEMPT)) assert.ok(files.has(file), `${file} has no expression`);
});

// The process of the checker lives as long as this one.
Deno.test("every regular expression is linear", { sanitizeOps: false, sanitizeResources: false }, async () => {
  const { check } = await import("recheck");
  const seen = new Map(EXPRESSIONS.map((each) => [`/${each.source}/${each.flags}`, each]));
  assert.ok(seen.size > 500, `only ${seen.size} expressions found`);
  // The checker must find a slow expression.
  assert.equal((await check("\\s*\\n\\s*", "g", LIMITS)).status, "vulnerable");
  const known = new Set<string>(JSON.parse(await Deno.readTextFile(SAFE)));
  const problems: string[] = [];
  const safe: string[] = [];
  for (const [text, { source, flags, place }] of seen) {
    if (EXEMPT[place.slice(0, place.lastIndexOf(":"))] !== undefined) continue;
    if (known.has(text) && !isLong()) {
      safe.push(text);
      continue;
    }
    // recheck knows only `u`. Without set operations `v` has the same syntax.
    const { status } = await check(source, flags.replace("v", "u"), LIMITS);
    if (status === "safe") safe.push(text);
    else problems.push(`${place}: ${text} is ${status}`);
  }
  if (Deno.env.get("UPDATE") === "1") await Deno.writeTextFile(SAFE, `${JSON.stringify(safe.toSorted(), null, 2)}\n`);
  assert.deepEqual(problems, []);
});
