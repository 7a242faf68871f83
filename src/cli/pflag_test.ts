import assert from "node:assert/strict";
import { fakeWorld } from "../core/world/mod.ts";
import { injectCommand } from "./commands/inject.ts";
import { pflag } from "./pflag.ts";

const command = injectCommand({ world: fakeWorld(), exitCode: 0 });

const CASES: readonly [written: string, read: string][] = [
  ["-o=json", "-o json"],
  ["-f=a.yaml --output=json", "-f a.yaml --output=json"],
  ["--cni=true --recursive=1", "--cni --recursive"],
  ["--cni=false -R=F", ""],
  ["--unknown=x", "--unknown=x"],
  ["-f a=b.yaml", "-f a=b.yaml"],
  ["-f a -- -o=json", "-f a -- -o=json"],
];

for (const [written, read] of CASES) {
  Deno.test(`pflag() reads ${written}`, () => {
    assert.equal(pflag(written.split(" "), command).join(" "), read);
  });
}

Deno.test("pflag() refuses a value that is no boolean", () => {
  assert.throws(() => pflag(["--cni=perhaps"], command), {
    message: 'The flag --cni cannot be "perhaps"',
    exitCode: 2,
  });
});
