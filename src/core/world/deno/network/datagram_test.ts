import assert from "node:assert/strict";
import { testWhen } from "../../../../../test/support/test_when.ts";
import { MeshError } from "../../../errors.ts";
import { openSocketLibc } from "../../linux/libc.ts";
import { bindDatagram } from "./datagram.ts";

// It stays loaded, which is no leak of the test that comes first.
if (Deno.build.os === "linux") openSocketLibc();

const ANY = { hostname: "127.0.0.1", port: 0 };

Deno.test("a datagram has its sender, which can be answered", async () => {
  const [server, client] = [bindDatagram(ANY), bindDatagram(ANY)];
  await client.send(new Uint8Array([1, 2, 3]), { hostname: "127.0.0.1", port: server.port });
  const [bytes, from] = await server.receive(new Uint8Array(2));
  assert.deepEqual([...bytes], [1, 2], "what is longer than the buffer is cut");
  assert.deepEqual([from.hostname, from.port], ["127.0.0.1", client.port]);
  await server.send(new Uint8Array([4]), from);
  assert.deepEqual([...(await client.receive(new Uint8Array(9)))[0]], [4]);
  const waiting = client.receive(new Uint8Array(1));
  client.close();
  client.close();
  await assert.rejects(waiting);
  server.close();
});

Deno.test("a UDP port in use is an error that names it", () => {
  const server = bindDatagram(ANY);
  const again = () => bindDatagram({ hostname: "127.0.0.1", port: server.port });
  assert.throws(again, (error) => error instanceof MeshError && error.message.includes(`UDP port ${server.port} of`));
  server.close();
});

testWhen(
  Deno.build.os === "linux" ? undefined : "Linux tells of refusals",
  "a host where nobody listens is told of, if that is asked for",
  async () => {
    const absent = bindDatagram(ANY);
    absent.close();
    for (const hostname of ["127.0.0.1", "0.0.0.0"]) {
      const socket = bindDatagram({ hostname, port: 0, keepsRefusals: true });
      assert.equal(socket.isRefused(), false);
      await socket.send(new Uint8Array([1]), { hostname: "127.0.0.1", port: absent.port });
      const deadline = performance.now() + 5000;
      let isRefused = socket.isRefused();
      while (!isRefused && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        isRefused = socket.isRefused();
      }
      assert.ok(isRefused);
      socket.close();
    }
  },
);
