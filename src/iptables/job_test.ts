import assert from "node:assert/strict";
import { stepText } from "./job.ts";

Deno.test("stepText() is a command as a comment, and its input", () => {
  assert.equal(stepText("ip rule del fwmark 1337 lookup 133"), "# ip rule del fwmark 1337 lookup 133\n");
  const step = "iptables-nft-restore --noflush with the following input:\n*nat\n-X ISTIO_OUTPUT\nCOMMIT\n";
  assert.equal(stepText(step), "# iptables-nft-restore --noflush\n*nat\n-X ISTIO_OUTPUT\nCOMMIT\n");
});
