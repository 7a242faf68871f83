import assert from "node:assert/strict";
import { plainText, terminalText } from "./terminal_text.ts";

Deno.test("terminalText() keeps layout and colours, and shows all else that a terminal acts on", () => {
  assert.equal(terminalText("a\tb\r\nc\n"), "a\tb\r\nc\n");
  assert.equal(terminalText("\x1b[1m\x1b[31mbad\x1b[39m\x1b[22m"), "\x1b[1m\x1b[31mbad\x1b[39m\x1b[22m");
  assert.equal(terminalText("\r\x1b[Kwaiting"), "\r\x1b[Kwaiting");
  assert.equal(terminalText("a\r\x1b[Kb"), "a\\u000d\\u001b[Kb");
  assert.equal(
    terminalText("\x1b]0;title\x07\x1b[2J\x1b[8mhidden"),
    "\\u001b]0;title\\u0007\\u001b[2J\\u001b[8mhidden",
  );
  assert.equal(terminalText("a\u202eb\x9bc\x7f"), "a\\u202eb\\u009bc\\u007f");
  assert.equal(terminalText("\x1b[30m\x1b[40m\x1b[7mhidden"), "\\u001b[30m\\u001b[40m\\u001b[7mhidden");
});

Deno.test("plainText() keeps layout, and shows colours too", () => {
  assert.equal(plainText("\r\x1b[Ka\tb\r\nc\x1b[31md\u202e\n"), "\r\x1b[Ka\tb\r\nc\\u001b[31md\\u202e\n");
});
