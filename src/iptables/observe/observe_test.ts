import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { SystemError } from "../../platform/mod.ts";
import { observe } from "./observe.ts";

Deno.test("reports that the kernel has dropped end the trace: the path would have gaps", async () => {
  let started = false;
  let closed = 0;
  const receive = () => {
    if (started) throw new SystemError("netlink", 105);
    started = true;
    return undefined;
  };
  const world = fakeWorld({
    system: { openNetlink: () => ({ send: () => {}, receive, close: () => void closed++ }) },
  });
  const stop = new AbortController().signal;
  await assert.rejects(observe(world, { flow: { protocol: "tcp" }, milliseconds: 1000, stop }), {
    name: "MeshError",
    hint: /too many packets match/,
  });
  assert.equal(closed, 1);
});
