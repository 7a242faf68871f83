import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { nftHeader } from "../kernel/netfilter/ruleset.ts";
import { encode, NETLINK_NETFILTER } from "../kernel/netlink.ts";
import { openTrace } from "./trace_table.ts";

Deno.test("a flood of packets does not keep the reader for ever", () => {
  const message = encode({ protocol: NETLINK_NETFILTER, type: (10 << 8) | 17, flags: 0, header: nftHeader(2) });
  let started = false;
  const { system } = fakeWorld({
    system: {
      openNetlink: () => ({
        send: () => void (started = true),
        // Before the trace nothing has arrived, then there is always one more.
        receive: () => started ? message : undefined,
        close: () => {},
      }),
    },
  });
  const trace = openTrace(system, { protocol: "tcp" });
  assert.equal(trace.receive().length, 1000);
  trace.close();
});
