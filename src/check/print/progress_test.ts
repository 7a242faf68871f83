import assert from "node:assert/strict";
import { fakeWorld } from "../../core/world/mod.ts";
import { isPlain } from "../../core/terminal.ts";
import { isDumb, progressLine } from "./progress.ts";

Deno.test("progress is on standard error of a terminal, and removed", () => {
  const world = fakeWorld({ terminal: true });
  const line = progressLine(world);
  line.tell(3, 20);
  assert.match(world.said.stderr, /3 of 20 checks$/);
  line.clear();
  assert(world.said.stderr.endsWith("\r\x1b[K"));
  assert.equal(world.said.stdout, "");
});

Deno.test("without a terminal, or by request, output has no progress and no colour", () => {
  const plain = [{}, { terminal: true, env: { NO_COLOR: "1" } }, { terminal: true, env: { TERM: "dumb" } }];
  for (const options of plain) {
    const world = fakeWorld(options);
    assert(isPlain(world));
    const line = progressLine(world);
    line.say("waiting");
    line.clear();
    assert.equal(world.said.stderr, "");
  }
  assert(!isPlain(fakeWorld({ terminal: true, env: { NO_COLOR: "" } })));
});

Deno.test("TERM=dumb means ASCII on a terminal, not in a file", () => {
  assert(isDumb(fakeWorld({ terminal: true, env: { TERM: "dumb" } })));
  assert(!isDumb(fakeWorld({ terminal: true, env: { TERM: "xterm" } })));
  assert(!isDumb(fakeWorld({ env: { TERM: "dumb" } })));
});
