import assert from "node:assert/strict";
import { CLEAR_SCREEN, terminalText } from "../base/text/mod.ts";
import { fakeWorld } from "../../test/support/fake_world.ts";
import type { World } from "../platform/mod.ts";
import { watchUntilWell } from "./watch.ts";

/** Watches checks that pass after `rounds` rounds. */
async function watched(
  rounds: number,
  { terminal = false, isDocument = false, timeout = 0 }: {
    readonly terminal?: boolean;
    readonly isDocument?: boolean;
    readonly timeout?: number;
  } = {},
) {
  const world = fakeWorld({ terminal });
  let round = 0;
  // Escapes each chunk, as the real standard output does.
  const stdout: World["stdout"] = {
    ...world.stdout,
    write: (chunk) => world.stdout.write(typeof chunk === "string" ? terminalText(chunk) : chunk),
  };
  const isEnded = await watchUntilWell({ clock: world.clock, stdout }, {
    results: () => Promise.resolve((round++, [])),
    isWell: () => round > rounds,
    text: () => round > rounds ? "well\n" : "odd\n",
    timeout,
    isDocument,
  });
  return { isEnded, round, said: world.said.stdout };
}

Deno.test("a terminal is cleared and redrawn when results change, until all checks pass", async () => {
  const { isEnded, round, said } = await watched(3, { terminal: true });
  assert.deepEqual([isEnded, round], [true, 4]);
  assert.equal(said, `${CLEAR_SCREEN}odd\n${CLEAR_SCREEN}well\n`);
});

Deno.test("without a terminal, each change is appended; a document is printed once, at the end", async () => {
  assert.equal((await watched(2)).said, "odd\n\nwell\n");
  assert.equal((await watched(2, { terminal: true, isDocument: true })).said, "well\n");
});

Deno.test("the time limit ends watching, with the latest results", async () => {
  const { isEnded, round, said } = await watched(1000, { timeout: 5_000 });
  assert.deepEqual([isEnded, round, said], [false, 4, "odd\n"]);
});
