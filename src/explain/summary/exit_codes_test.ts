import assert from "node:assert/strict";
import { exitInWords } from "./exit_codes.ts";

Deno.test("exit code 126 of a capture container means that the traffic is not captured", () => {
  assert.equal(exitInWords(126, "Error", "capture"), "exit code 126: the traffic is not captured");
  for (const role of ["application", "proxy"] as const) {
    assert.equal(exitInWords(126, "Error", role), "exit code 126: its program cannot be executed");
  }
});

Deno.test("the kubelet's reason comes before the meaning of the code, in every role", () => {
  const text = "the container runtime could not start it";
  assert.equal(exitInWords(126, "StartError", "capture"), `exit code 126: ${text}`);
  assert.equal(exitInWords(126, "StartError", "application"), `exit code 126: ${text}`);
});

Deno.test("other codes mean the same in every role", () => {
  for (const role of ["application", "capture", "proxy"] as const) {
    assert.equal(exitInWords(2, "", role), "exit code 2: its command line is invalid");
    assert.equal(exitInWords(143, "Error", role), "exit code 143: ended by SIGTERM, as requested");
    assert.equal(exitInWords(77, "Error", role), "exit code 77: it failed");
  }
});
