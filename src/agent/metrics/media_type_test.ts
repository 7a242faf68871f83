import assert from "node:assert/strict";
import { formatMediaType, parseMediaType } from "./media_type.ts";

const CASES = [
  { text: " Text/Plain ; Version=0.0.4;charset=utf-8", formatted: "text/plain; charset=utf-8; version=0.0.4" },
  { text: 'a/b; c="d e\\"f"; ', formatted: 'a/b; c="d e\\"f"' },
  { text: "*", formatted: "*" },
  { text: "*/*", formatted: "*/*" },
  { text: "", formatted: undefined },
  { text: "/", formatted: undefined },
  { text: "a/b/c", formatted: undefined },
  { text: "a b", formatted: undefined },
  { text: "a/b; c", formatted: undefined },
  { text: "a/b; c=1; c=2", formatted: undefined },
];

for (const { text, formatted } of CASES) {
  Deno.test(`parseMediaType(): ${JSON.stringify(text)}`, () => {
    const type = parseMediaType(text);
    assert.equal(type === undefined ? undefined : formatMediaType(type), formatted);
  });
}
