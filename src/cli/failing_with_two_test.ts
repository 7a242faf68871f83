import assert from "node:assert/strict";
import { ClosedPipeError, MeshError, UsageError } from "../base/errors.ts";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { failingWithTwo } from "./failing_with_two.ts";

const FAILURES: readonly (readonly [string, unknown, number])[] = [
  ["a user's error", new MeshError("x"), 2],
  ["a wrong command line", new UsageError("x"), 2],
  ["too many open files", new Error("Too many open files (os error 24)"), 2],
  ["a defect of the program", new TypeError("x"), 2],
  ["a closed pipe", new ClosedPipeError("x"), 141],
  ["an interruption", new MeshError("x", { exitCode: 130 }), 130],
];

for (const [name, error, code] of FAILURES) {
  Deno.test(`a comparison that fails with ${name} ends with ${code}`, async () => {
    assert.equal(await failingWithTwo(fakeWorld(), () => Promise.reject(error)), code);
  });
}

Deno.test("a comparison that fails says why", async () => {
  const world = fakeWorld();
  await failingWithTwo(world, () => Promise.reject(new MeshError("No file", { hint: "name one" })));
  assert.equal(world.said.stderr, "error: No file; name one\n");
});

Deno.test("the exit code of a comparison that does not fail stays", async () => {
  assert.equal(await failingWithTwo(fakeWorld(), () => Promise.resolve(1)), 1);
});
