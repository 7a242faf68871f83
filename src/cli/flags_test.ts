import assert from "node:assert/strict";
import { type Flag, readFlags } from "./flags.ts";

const FLAGS: readonly Flag[] = [
  { name: "url", value: "url", help: "what to ask" },
  { name: "output", short: "o", value: "format", help: "form" },
  { name: "quiet", short: "q", help: "say nothing" },
  { name: "secret", value: "text" },
];

function read(...args: string[]) {
  const { all, isOn, words, rest } = readFlags(FLAGS, args, "mesh x");
  return { url: all("url"), output: all("output"), quiet: isOn("quiet"), help: isOn("help"), words, rest };
}

const NOTHING = { url: [], output: [], quiet: false, help: false, words: [], rest: undefined };

const CASES: readonly (readonly [args: string, expected: Partial<ReturnType<typeof read>>])[] = [
  ["", {}],
  ["--url a --url=b", { url: ["a", "b"] }],
  ["--url=", { url: [""] }],
  ["--url a=b --url=c=d", { url: ["a=b", "c=d"] }],
  ["--url --quiet", { url: ["--quiet"] }],
  ["-o json -o=yaml -otext", { output: ["json", "yaml", "text"] }],
  ["-q one --quiet=false two", { words: ["one", "two"] }],
  ["--quiet=T", { quiet: true }],
  ["-h -", { help: true, words: ["-"] }],
  ["one -- --url -q", { words: ["one"], rest: ["--url", "-q"] }],
  ["-- a -- b", { rest: ["a", "--", "b"] }],
  ["--", { rest: [] }],
];

for (const [args, expected] of CASES) {
  Deno.test(`readFlags() reads "${args}"`, () => {
    assert.deepEqual(read(...args.split(" ").filter((word) => word !== "")), { ...NOTHING, ...expected });
  });
}

const WRONG: readonly (readonly [args: string, message: string, hint: string])[] = [
  ["--frob", 'Unknown flag "--frob"', 'see "mesh x --help"'],
  ["--ulr=a", 'Unknown flag "--ulr"', 'did you mean "--url"?'],
  ["--secrets a", 'Unknown flag "--secrets"', 'see "mesh x --help"'],
  ["-z", 'Unknown flag "-z"', 'see "mesh x --help"'],
  ["-qo json", 'Unknown flag "-qo"', 'see "mesh x --help"'],
  ["--o json", 'Unknown flag "--o"', 'see "mesh x --help"'],
  ["--url", "The flag --url needs a value", 'see "mesh x --help"'],
  ["-o", "The flag -o/--output needs a value", 'see "mesh x --help"'],
  ["--url -- a", "The flag --url needs a value", 'see "mesh x --help"'],
  ["--quiet=maybe", 'The flag -q/--quiet cannot be "maybe"', 'it takes "true" or "false"'],
];

for (const [args, message, hint] of WRONG) {
  Deno.test(`readFlags() refuses "${args}" with the code 2`, () => {
    assert.throws(() => read(...args.split(" ")), { message, hint, exitCode: 2 });
  });
}
