import assert from "node:assert/strict";
import { templateMessage } from "./template_message.ts";

Deno.test("templateMessage() gives the place in words and keeps the rest", () => {
  assert.equal(
    templateMessage(new Error("template: inject:3:7: executing at <.x>: no: y")),
    "line 3, column 7: executing at <.x>: no: y",
  );
  assert.equal(templateMessage(new Error("template: inject:2: unexpected end")), "line 2: unexpected end");
  assert.equal(templateMessage(new Error("out of range")), "out of range");
});
