import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { capturedDirections, checkRequired } from "./directions.ts";
import { readSettings } from "./read.ts";
import type { Direction, Required } from "./settings.ts";

const CAPTURED: readonly (readonly [line: string, directions: Direction[]])[] = [
  ["", []],
  ["-b *", ["inbound"]],
  ["-b 80", ["inbound"]],
  ["-i *", ["outbound"]],
  ["-i 10.0.0.0/8", ["outbound"]],
  ["-q 5432", ["outbound"]],
  ["-i * -b 80", ["inbound", "outbound"]],
];

for (const [line, directions] of CAPTURED) {
  Deno.test(`capturedDirections("${line}")`, () => {
    const { settings } = readSettings(line.split(" ").filter(Boolean), {}, { users: new Map(), groups: new Map() });
    assert.ok(settings);
    assert.deepEqual(capturedDirections(settings.capture), directions);
  });
}

const REQUIRED: readonly (readonly [required: Required, captured: readonly Direction[], message?: RegExp])[] = [
  ["", []],
  ["both", ["inbound", "outbound"]],
  ["inbound", ["inbound"]],
  ["outbound", ["inbound", "outbound"]],
  ["both", [], /^The rules do not capture inbound and outbound connections$/],
  ["both", ["inbound"], /^The rules do not capture outbound connections$/],
  ["inbound", ["outbound"], /^The rules do not capture inbound connections$/],
];

for (const [required, captured, message] of REQUIRED) {
  Deno.test(`--require "${required}" of ${captured.join() || "nothing"}`, () => {
    const check = () => checkRequired(required, captured, "The rules");
    if (message === undefined) return check();
    assert.throws(
      check,
      (error) => error instanceof MeshError && error.exitCode === 126 && message.test(error.message),
    );
  });
}
