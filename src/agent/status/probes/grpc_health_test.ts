import assert from "node:assert/strict";
import { healthRequest, healthStatus } from "./grpc_health.ts";

Deno.test("healthRequest() writes a frame with the service", () => {
  assert.deepEqual([...healthRequest("")], [0, 0, 0, 0, 0]);
  assert.deepEqual([...healthRequest("ab")], [0, 0, 0, 0, 4, 0x0a, 2, 0x61, 0x62]);
  const long = healthRequest("é".repeat(100));
  assert.deepEqual([...long.subarray(0, 8)], [0, 0, 0, 0, 203, 0x0a, 200, 1]);
  assert.equal(new TextDecoder().decode(long.subarray(8)), "é".repeat(100));
});

Deno.test("healthStatus() reads the status, and skips other fields", () => {
  assert.equal(healthStatus(Uint8Array.of(0, 0, 0, 0, 2, 8, 1)), "SERVING");
  assert.equal(healthStatus(Uint8Array.of(0, 0, 0, 0, 2, 8, 2)), "NOT_SERVING");
  assert.equal(healthStatus(Uint8Array.of(0, 0, 0, 0, 0)), "UNKNOWN");
  assert.equal(healthStatus(Uint8Array.of(0, 0, 0, 0, 2, 8, 9)), "9");
  const others = [0x12, 2, 8, 2, 0x18, 0x80, 1, 0x21, 1, 2, 3, 4, 5, 6, 7, 8, 0x2d, 1, 2, 3, 4];
  assert.equal(healthStatus(Uint8Array.of(0, 0, 0, 0, others.length + 2, ...others, 8, 1)), "SERVING");
});

const BROKEN = [[], [0, 0, 0, 0], [1, 0, 0, 0, 2, 8, 1], [0, 0, 0, 0, 3, 8, 1], [0, 0, 0, 0, 2, 8, 0x81], [
  0,
  0,
  0,
  0,
  2,
  0x12,
  9,
], [0, 0, 0, 0, 1, 0x0b]];

for (const bytes of BROKEN) {
  Deno.test(`healthStatus() rejects ${JSON.stringify(bytes)}`, () => {
    assert.throws(() => healthStatus(Uint8Array.from(bytes)), { message: "The response is not a HealthCheckResponse" });
  });
}
