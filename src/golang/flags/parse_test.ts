import assert from "node:assert/strict";
import type { FlagTable } from "./flag.ts";
import { type Line, parseFlags, problemsTogether, valuesAsFlags, valuesOf } from "./parse.ts";

const FLAGS = {
  url: { name: "url", type: "urls", doc: "what to ask", old: ["--address"] },
  output: { name: "output", short: "o", type: "text", doc: "form" },
  quiet: { name: "quiet", short: "q", type: "boolean", doc: "say nothing" },
  count: { name: "count", short: "c", type: "integer", doc: "how many", default: "3" },
  names: { name: "names", type: "list", doc: "names", needs: ["quiet"], excludes: ["output"] },
  secret: { name: "secret", type: "text", hidden: true, doc: "not shown" },
  user: { name: "user", type: "text", doc: "who", needsArgument: "live:NAME" },
  variable: { env: ["VARIABLE"], type: "text", doc: "no flag" },
} as const satisfies FlagTable;

function wordsOf(args: string): string[] {
  return args.split(" ").filter((word) => word !== "");
}

function summary({ given, isHelp, words, rest, problems }: Line) {
  const texts = Object.fromEntries([...given].map(([name, each]) => [name, each.texts]));
  return { ...texts, ...isHelp ? { isHelp } : {}, words, rest, problems };
}

const NOTHING = { words: [], rest: undefined, problems: [] };

/** Arguments as pflag takes them. */
const CASES: readonly (readonly [args: string, expected: Readonly<Record<string, unknown>>])[] = [
  ["", {}],
  ["--url http://a --url=http://b", { url: ["http://a", "http://b"] }],
  ["--address http://a", { url: ["http://a"] }],
  ["--output=", { output: [""] }],
  ["--output a=b", { output: ["a=b"] }],
  ["--output --quiet", { output: ["--quiet"] }],
  ["-o json -o=yaml", { output: ["yaml"] }],
  ["-otext", { output: ["text"] }],
  ["-qo json", { quiet: ["true"], output: ["json"] }],
  ["-q one two", { quiet: ["true"], words: ["one", "two"] }],
  ["--quiet=T", { quiet: ["T"] }],
  ["--quiet=f", { quiet: ["f"] }],
  ["-h -", { isHelp: true, words: ["-"] }],
  ["--help", { isHelp: true }],
  ["one -- --url -q", { words: ["one"], rest: ["--url", "-q"] }],
  ["-- a -- b", { rest: ["a", "--", "b"] }],
  ["--", { rest: [] }],
];

/** The first problem of arguments. */
const WRONG: readonly (readonly [args: string, message: string, hint?: string])[] = [
  [
    "--url a --url=b",
    'The flag --url cannot be "a"',
    'it must be a URL such as "http://localhost:15021/healthz/ready"',
  ],
  ["--frob", 'Unknown flag "--frob"'],
  ["--ulr=a", 'Unknown flag "--ulr"', 'did you mean "--url"?'],
  ["--out=json", 'Unknown flag "--out"', 'did you mean "--output"?'],
  ["--secrets a", 'Unknown flag "--secrets"'],
  ["-z", 'Unknown flag "-z"'],
  ["--o json", 'Unknown flag "--o"'],
  ["--output", "The flag -o/--output needs a value"],
  ["-o", "The flag -o/--output needs a value"],
  ["--url -- a", "The flag --url needs a value"],
  ["--quiet=maybe", 'The flag -q/--quiet cannot be "maybe"', 'it must be "true" or "false"'],
  ["--count=x --count=1", 'The flag -c/--count cannot be "x"', "it must be a whole number from 0 to 4294967295"],
];

for (const [args, expected] of CASES) {
  Deno.test(`parseFlags() reads "${args}"`, () => {
    assert.deepEqual(summary(parseFlags(FLAGS, wordsOf(args))), { ...NOTHING, ...expected });
  });
}

for (const [args, message, hint] of WRONG) {
  Deno.test(`parseFlags() refuses "${args}"`, () => {
    const [problem] = parseFlags(FLAGS, wordsOf(args)).problems;
    assert.deepEqual(problem, hint === undefined ? { message } : { message, hint });
  });
}

Deno.test("parseFlags() finds all problems, and treats the argument after a misspelled flag as its value", () => {
  const { problems, words } = parseFlags(FLAGS, wordsOf("--cuont 5 --frob word -qz"));
  assert.deepEqual(problems.map(({ message }) => message), [
    'Unknown flag "--cuont"',
    'Unknown flag "--frob"',
    'Unknown flag "-z" in "-qz"',
  ]);
  assert.deepEqual(words, ["word"]);
});

Deno.test("parseFlags() ignores unknown flags with the next word, unless the word is an argument", () => {
  const line = parseFlags(FLAGS, wordsOf("--new value --other role --third=x -y -o json"), {
    ignoresUnknown: (next) => next === "role",
  });
  assert.deepEqual([line.ignored, line.words, line.problems], [["--new", "--other", "--third", "-y"], ["role"], []]);
});

Deno.test("parseFlags() with endsAtWord leaves the first argument and all later arguments to another program", () => {
  const { words, problems } = parseFlags(FLAGS, wordsOf("-q sh --frob"), { endsAtWord: true });
  assert.deepEqual([words, problems], [["sh", "--frob"], []]);
});

Deno.test("valuesOf() returns the given value or the default", () => {
  const read = (args: string) => valuesOf({ "Flags": FLAGS }, parseFlags(FLAGS, wordsOf(args)));
  const nothing = {
    url: [],
    output: undefined,
    quiet: false,
    count: 3,
    names: [],
    secret: undefined,
    user: undefined,
    variable: undefined,
  };
  assert.deepEqual(read(""), nothing);
  assert.deepEqual(read("--count 4 --names a,b, --names c -q"), {
    ...nothing,
    count: 4,
    names: ["a", "b", "c"],
    quiet: true,
  });
});

Deno.test("problemsTogether() finds flags that need others or an argument, and flags that exclude others", () => {
  const messages = (args: string) =>
    problemsTogether(FLAGS, parseFlags(FLAGS, wordsOf(args))).map(({ message }) => message);
  assert.deepEqual(messages("--names a -q"), []);
  assert.deepEqual(messages("--names a"), ["The flag --names needs --quiet"]);
  assert.deepEqual(messages("--names a --quiet=false"), ["The flag --names needs --quiet"]);
  assert.deepEqual(messages("--names a -q -o x"), ["The flags --names and --output cannot be combined"]);
  assert.deepEqual(messages("--user a file live"), ["The flag --user needs an argument live:NAME"]);
  assert.deepEqual(messages("--user a file live:b"), []);
});

Deno.test("valuesAsFlags() writes arguments with the same values", () => {
  const groups = { all: FLAGS };
  const values = valuesOf(groups, parseFlags(FLAGS, wordsOf("-q --names b,a --names c --output=x=y")));
  const written = valuesAsFlags(groups, values);
  assert.deepEqual(written, ["--output=x=y", "--quiet", "--count=3", "--names=b", "--names=a", "--names=c"]);
  assert.deepEqual(valuesOf(groups, parseFlags(FLAGS, written)), values);
});
