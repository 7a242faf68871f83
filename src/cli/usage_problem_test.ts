import assert from "node:assert/strict";
import { fakeWorld } from "../core/world/mod.ts";
import { main } from "./mod.ts";

const CASES: readonly [args: string, error: string][] = [
  ["injct", 'Unknown command "injct"; did you mean "inject"?'],
  ["injct --help", 'Unknown command "injct"; did you mean "inject"?'],
  ["help injct", 'Unknown command "injct"; did you mean "inject"?'],
  ["iptabels", 'Unknown command "iptabels"; did you mean "iptables"?'],
  ["kube-inject -f x", 'Unknown command "kube-inject"; it is "inject" here'],
  ["frobnicate", 'Unknown command "frobnicate"; see "kubectl mesh --help"'],
  ["--frobnicate", 'Unknown flag "--frobnicate"; see "kubectl mesh --help"'],
  ["inject --fielname x", 'Unknown flag "--fielname"; did you mean "--filename"?'],
  ["inject --frobnicate", 'Unknown flag "--frobnicate"; see "kubectl mesh inject --help"'],
  ["inject -f", 'The flag -f/--filename needs a value; see "kubectl mesh inject --help"'],
  ["inject --hub", 'The flag --hub needs a value; see "kubectl mesh inject --help"'],
  ["inject --report xml", 'The flag --report cannot be "xml"; it takes "text", "json" or "none"'],
  ["inject a.yaml b.yaml", 'Unexpected argument "a.yaml"; name files with -f'],
  ["version now", 'Unexpected argument "now"; see "kubectl mesh version --help"'],
  ["inject", "No input is given; name files with -f, or - for standard input"],
  ["inject -f a -o=", "The output has no name; -o takes yaml, json or the name of a file"],
];

for (const [args, error] of CASES) {
  Deno.test(`a wrong command line is told, code 2: ${args}`, async () => {
    const world = fakeWorld({ args: args.split(" "), files: { a: "" } });
    assert.equal(await main(world), 2);
    assert.deepEqual(world.said, { stdout: "", stderr: `error: ${error}\n` });
  });
}

Deno.test("help is the same by word, by flag and without a command", async () => {
  const help = async (...args: string[]) => {
    const world = fakeWorld({ args });
    assert.equal(await main(world), 0);
    assert.equal(world.said.stderr, "");
    return world.said.stdout;
  };
  assert.equal(await help("help"), await help());
  assert.equal(await help("--help"), await help());
  assert.equal(await help("help", "inject"), await help("inject", "-h"));
  assert.equal(await help("--version"), await help("version"));
});
