import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { envoyAdmin } from "./admin.ts";

/** The admin interface with one answer, and what it was asked. */
function adminWith(body: string, status = 200) {
  const asked: string[] = [];
  const world = fakeWorld({
    exchange({ method, url }) {
      asked.push(`${method} ${url}`);
      return { status, headers: new Headers(), body: new TextEncoder().encode(body) };
    },
  });
  return { asked, admin: envoyAdmin(world, "http://[::1]:15000", [15021]) };
}

Deno.test("isLive() needs the state LIVE and the right epoch", async () => {
  // As Envoy 1.40 prints it, shortened.
  const info = (state: string, epoch: number) =>
    `{\n "version": "1.40.0",\n "state": "${state}",\n "command_line_options": {\n  "base_id": "0",\n` +
    `  "restart_epoch": ${epoch},\n  "mode": "Serve"\n }\n}\n`;
  const cases = [["LIVE", 0, true], ["LIVE", 1, false], ["INITIALIZING", 0, false]] as const;
  for (const [state, epoch, live] of cases) {
    const { admin } = adminWith(info(state, epoch));
    assert.equal(await admin.isLive(0), live, `${state} ${epoch}`);
  }
});

Deno.test("isLive() does not ask for more before Envoy is ready", async () => {
  const { admin, asked } = adminWith("INITIALIZING\n", 503);
  assert.equal(await admin.isLive(0), false);
  assert.deepEqual(asked, ["GET http://[::1]:15000/ready"]);
  await assert.rejects(adminWith("", 404).admin.isLive(0), /status 404/);
});

Deno.test("drainListeners() drains inbound or all listeners, and can keep them open", async () => {
  const { admin, asked } = adminWith("OK\n");
  await admin.drainListeners({ inboundOnly: true, keepOpen: false });
  await admin.drainListeners({ inboundOnly: false, keepOpen: true });
  assert.deepEqual(asked, [
    "POST http://[::1]:15000/drain_listeners?inboundonly&graceful",
    "POST http://[::1]:15000/drain_listeners?graceful&skip_exit",
  ]);
});

Deno.test("counts are -1 for an empty answer", async () => {
  const { admin, asked } = adminWith("");
  assert.equal(await admin.clientConnections(), -1);
  assert.equal(await admin.forwardedRequests(), -1);
  assert.deepEqual(asked.map((each) => each.slice(22)), ["/stats?usedonly&filter=downstream_cx_active$", "/clusters"]);
});

Deno.test("a failed request names the URL and the reason", async () => {
  const { admin } = adminWith("no", 503);
  await assert.rejects(admin.clientConnections(), {
    message:
      'Cannot reach Envoy\'s admin interface at "http://[::1]:15000/stats?usedonly&filter=downstream_cx_active$": ' +
      "status 503",
  });
  const { admin: large } = adminWith("x".repeat(64 << 20));
  await assert.rejects(large.isLive(0), /the response is larger than 67108864 bytes/);
});
