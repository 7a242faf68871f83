/** Commander and the parser of containers' commands read alike. */
import assert from "node:assert/strict";
import { type FlagTable, type Line, parseFlags } from "../golang/flags/mod.ts";
import { parseWithCommander } from "./commander.ts";

const FLAGS = {
  url: { name: "url", type: "urls", doc: "what to ask", old: ["--address"] },
  output: { name: "output", short: "o", type: "text", doc: "form" },
  quiet: { name: "quiet", short: "q", type: "boolean", doc: "say nothing" },
  count: { name: "count", short: "c", type: "integer", doc: "how many", default: "3" },
  names: { name: "names", type: "list", doc: "names" },
  secret: { name: "secret", type: "text", hidden: true, doc: "not shown" },
  variable: { env: ["VARIABLE"], type: "text", doc: "no flag" },
} as const satisfies FlagTable;

function wordsOf(args: string): string[] {
  return args.split(" ").filter((word) => word !== "");
}

function summary({ given, isHelp, words, rest, problems }: Line) {
  const texts = Object.fromEntries(
    [...given].filter(([name]) => name !== "help").map(([name, each]) => [name, each.texts]),
  );
  return { ...texts, ...isHelp ? { isHelp } : {}, words, rest, problems };
}

const NOTHING = { words: [], rest: undefined, problems: [] };

/** What both parsers read alike. */
const CASES: readonly (readonly [args: string, expected: Readonly<Record<string, unknown>>])[] = [
  ["", {}],
  ["--url a --url=b", { problems: "url" }],
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

/** What both refuse alike. */
const WRONG: readonly (readonly [args: string, message: string, hint?: string])[] = [
  ["--frob", 'Unknown flag "--frob"'],
  ["--ulr=a", 'Unknown flag "--ulr"', 'did you mean "--url"?'],
  ["--secrets a", 'Unknown flag "--secrets"'],
  ["-z", 'Unknown flag "-z"'],
  ["--o json", 'Unknown flag "--o"'],
  ["--output", "The flag -o/--output needs a value"],
  ["-o", "The flag -o/--output needs a value"],
  ["--url -- a", "The flag --url needs a value"],
  ["--quiet=maybe", 'The flag -q/--quiet cannot be "maybe"', 'it takes "true" or "false"'],
  ["--count=x --count=1", 'The flag -c/--count cannot be "x"', "it takes a whole number from 0 to 4294967295"],
];

for (const [parser, parse] of Object.entries({ parseFlags, parseWithCommander })) {
  for (const [args, expected] of CASES) {
    Deno.test(`${parser}() reads "${args}"`, () => {
      const read = summary(parse(FLAGS, wordsOf(args)));
      if (expected["problems"] === "url") {
        return assert.match(read.problems[0]?.message ?? "", /^The flag --url cannot be "a"$/);
      }
      assert.deepEqual(read, { ...NOTHING, ...expected });
    });
  }
  for (const [args, message, hint] of WRONG) {
    Deno.test(`${parser}() refuses "${args}"`, () => {
      assert.deepEqual(parse(FLAGS, wordsOf(args)).problems[0], hint === undefined ? { message } : { message, hint });
    });
  }
}
