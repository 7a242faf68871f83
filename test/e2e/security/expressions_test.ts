/**
 * Every regular expression of `src` takes time in proportion to the text: a checker finds no text that takes its square or
 * more. An expression on which the checker gives up fails as well.
 */
import { strict as assert } from "node:assert";
import process from "node:process";
import { filesBelow, read } from "../../house/source.ts";
import { expressionsOf } from "./support/expressions.ts";

/** Each exemption names its callers. Ten at most. */
const EXEMPT: Readonly<Record<string, string>> = {
  "src/platform/linux/resident_pages.ts":
    "releaseMemory() and memoryReleaser() read /proc/self/smaps of this process, which the kernel writes",
  "src/cli/manifests/glob.ts":
    "globs() makes the expression from a pattern of the command line and tests names of files of the same user",
};

/** `recheck` has a program for each platform; its form in JavaScript takes four times as long and gives up on some. */
process.env.RECHECK_BACKEND = "native";
const TIMEOUT = 60_000;

const EXPRESSIONS = filesBelow("src").filter((file) => file.endsWith(".ts") && !file.endsWith("_test.ts"))
  .flatMap((file) => expressionsOf(file, read(file)));

Deno.test("the expressions of a text: literals, and patterns that constants build", () => {
  const text = 'const A = "a+";\nconst B = new RegExp(`^${A}${b}$`, "u");\nconst C = /c\\d/g;\n';
  const found = expressionsOf("x.ts", text).map(({ source, flags, place }) => `${place} /${source}/${flags}`);
  assert.deepEqual(found.sort(), ["x.ts:2 /^a+1$/u", "x.ts:3 /c\\d/g"]);
});

Deno.test("there are at most ten exemptions, and each is needed", () => {
  const files = new Set(EXPRESSIONS.map(({ place }) => place.slice(0, place.lastIndexOf(":"))));
  assert.ok(Object.keys(EXEMPT).length <= 10);
  for (const file of Object.keys(EXEMPT)) assert.ok(files.has(file), `${file} has no expression`);
});

// The checker is a process that lives as long as this one.
Deno.test("every regular expression is linear", { sanitizeOps: false, sanitizeResources: false }, async () => {
  const { check } = await import("recheck");
  const seen = new Map(EXPRESSIONS.map((each) => [`/${each.source}/${each.flags}`, each]));
  assert.ok(seen.size > 500, `only ${seen.size} expressions found`);
  // The checker finds what it is there for.
  assert.equal((await check("\\s*\\n\\s*", "g", { timeout: TIMEOUT })).status, "vulnerable");
  const problems: string[] = [];
  for (const [text, { source, flags, place }] of seen) {
    if (EXEMPT[place.slice(0, place.lastIndexOf(":"))] !== undefined) continue;
    // `v` has the syntax of `u` where no set operation is used, and recheck knows only `u`.
    const { status } = await check(source, flags.replace("v", "u"), { timeout: TIMEOUT });
    if (status !== "safe") problems.push(`${place}: ${text} is ${status}`);
  }
  assert.deepEqual(problems, []);
});
