import assert from "node:assert/strict";
import { keepalive } from "./stats.ts";

Deno.test("keepalive: set fields only, in whole seconds", () => {
  assert.deepEqual(keepalive({ probes: 3, time: "20s", interval: "1.900s" }), {
    keepalive_probes: { value: 3 },
    keepalive_time: { value: 20 },
    keepalive_interval: { value: 1 },
  });
  assert.deepEqual(keepalive({ probes: 0, time: "0.500s" }), {});
});
