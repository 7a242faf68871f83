import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { ownerOfProcess, redirectArguments } from "./redirect.ts";

const PORTS = { status: 15020, prometheus: 15090 };
const PROXY = { uid: 1337, gid: 1337 };

Deno.test("redirectArguments: without variables, all traffic is captured except the proxy's own and its ports", () => {
  assert.deepEqual(redirectArguments({}, PORTS, PROXY), [
    ...["-b", "*", "-i", "*", "-d", "15090,15021,15020", "-u", "1337", "-g", "1337"],
  ]);
  const other = redirectArguments({}, { status: 16000, prometheus: 0 }, PROXY);
  assert.equal(other[other.indexOf("-d") + 1], "15090,15021,15020,16000");
});

Deno.test("redirectArguments: variables change the captured traffic", () => {
  const env = {
    ISTIO_INBOUND_PORTS: "80",
    ISTIO_SERVICE_CIDR: "10.0.0.0/8",
    ISTIO_LOCAL_EXCLUDE_PORTS: "22",
    PROXY_UID: "7",
  };
  assert.deepEqual(redirectArguments(env, PORTS, { uid: 0, gid: 0 }), []);
});

Deno.test("redirectArguments: a proxy that runs as root needs its own group", () => {
  assert.deepEqual(redirectArguments({}, PORTS, { uid: 0, gid: 1337 }).slice(-4), ["-u", "1337", "-g", "1337"]);
  assert.throws(() => redirectArguments({}, PORTS, { uid: 0, gid: 0 }), /user 0 and group 0/);
});

Deno.test("ownerOfProcess: the effective user and group", async () => {
  const world = fakeWorld({ files: { "/proc/self/status": "Name:\tx\nUid:\t0\t1337\t0\t0\nGid:\t5\t6\t7\t8\n" } });
  assert.deepEqual(await ownerOfProcess(world), { uid: 1337, gid: 6 });
});
