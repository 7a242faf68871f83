import assert from "node:assert/strict";
import { ApiError } from "../../kube/client/mod.ts";
import { serverTime } from "./server_time.ts";

const NOW = new Date("2036-11-21T00:00:00Z");

/** Returns the time for a server that sends this date. With "none", the request fails. */
async function timeWith(date: string | undefined): Promise<string> {
  const raw = () => date === "none" ? Promise.reject(new ApiError("forbidden")) : Promise.resolve({ value: {}, date });
  return (await serverTime({ raw }, { now: () => NOW })).toISOString();
}

Deno.test("the API server's clock counts, and this machine's only where the server does not say", async () => {
  assert.equal(await timeWith("Sat, 21 Nov 2026 08:00:00 GMT"), "2026-11-21T08:00:00.000Z");
  for (const date of [undefined, "", "yesterday", "none"]) assert.equal(await timeWith(date), NOW.toISOString());
});
