import assert from "node:assert/strict";
import { answerOf } from "../answer.ts";
import { readConnection } from "../question/read_connection.ts";
import { type Changes, fakeSnapshot } from "./fake_snapshot_test.ts";

async function ask(changes: Changes) {
  const connection = readConnection({
    to: "http://web:80/",
    from: undefined,
    toPort: undefined,
    method: undefined,
    header: [],
    sni: undefined,
  });
  assert.ok(connection !== undefined);
  return await answerOf(fakeSnapshot(changes), connection);
}

const ENDPOINT = { address: "10.0.0.9:8080", health: "healthy" };

Deno.test("an endpoint that is connect_originate is followed to port 15008 of its address, with mutual TLS", async () => {
  const { verdict, endpoints, stations } = await ask({ tunnel: {} });
  assert.deepEqual([verdict, endpoints], ["reaches", [ENDPOINT]]);
  const [listener, cluster, end, tls] = stations.slice(-4);
  assert.match(
    listener?.message ?? "",
    /internal listener connect_originate: HTTP CONNECT to 10\.0\.0\.9:8080 \(HBONE\)/,
  );
  assert.match(cluster?.message ?? "", /connect_originate connects to port 15008/);
  assert.match(end?.message ?? "", /^10\.0\.0\.9:15008: the ztunnel/);
  assert.match(tls?.message ?? "", /mutual TLS with the certificate "default"/);
});

Deno.test("a tunnel to a waypoint goes to the waypoint", async () => {
  const { verdict, stations } = await ask({ tunnel: { waypoint: "10.0.0.50:15008" } });
  assert.equal(verdict, "reaches");
  assert.match(stations.at(-2)?.message ?? "", /^10\.0\.0\.50:15008: the waypoint accepts the tunnel/);
});

Deno.test("without the internal listener, or with an expired certificate, a tunnel is refused", async () => {
  const without = await ask({ tunnel: { hasListener: false } });
  assert.equal(without.verdict, "refused");
  assert.match(without.reason, /no internal listener connect_originate/);
  const expired = await ask({ tunnel: {}, expires: "2026-01-01T00:00:00Z" });
  assert.equal(expired.verdict, "refused");
  assert.match(expired.reason, /without a valid workload certificate/);
});
