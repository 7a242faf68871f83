import assert from "node:assert/strict";
import { decodeUtf8 } from "./utf8.ts";

Deno.test("decodeUtf8() keeps the text, also a byte order mark", () => {
  const text = "\uFEFFgrün 🙂\r\n";
  assert.equal(decodeUtf8(new TextEncoder().encode(text), "f"), text);
});

Deno.test("decodeUtf8() names the line of the first byte that is not UTF-8", () => {
  assert.throws(() => decodeUtf8(new Uint8Array([0x61, 0x0a, 0x62, 0xff, 0x0a]), "f.yaml"), {
    message: "Cannot read the text: it is not valid UTF-8",
    place: { file: "f.yaml", line: 2 },
  });
});
