import assert from "node:assert/strict";
import { testWhen } from "../../../../test/support/test_when.ts";
import { MeshError } from "../../../base/errors.ts";
import { socketLibc } from "../../linux/sockets.ts";
import { bindDatagram } from "./datagram.ts";

// It stays loaded, which is no leak of the test that comes first.
if (Deno.build.os === "linux") socketLibc();

const ANY = { hostname: "127.0.0.1", port: 0 };

/** An answer to each datagram: 7 gets none, 8 a late one, 9 one that no datagram holds. */
function echo(bytes: Uint8Array): Uint8Array | undefined | Promise<Uint8Array> {
  const [first = 0, second = 0] = bytes;
  if (first === 7) return undefined;
  if (first === 8) return new Promise((resolve) => setTimeout(() => resolve(new Uint8Array([8, second])), 1));
  return first === 9 ? new Uint8Array(65_536) : new Uint8Array([first, second, bytes.length & 255]);
}

const hasIpv6 = Deno.networkInterfaces().some(({ address }) => address === "::1");

Deno.test(`a datagram has its sender, which can be answered`, async () => {
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

for (const hostname of ["127.0.0.1", "::1"]) {
  const missing = hostname === "::1" && !hasIpv6 ? "this machine has no ::1" : undefined;
  testWhen(
    missing,
    `serve(): each datagram that came at once is answered to its sender, at ${hostname}`,
    async () => {
      const server = bindDatagram({ hostname, port: 0 });
      const served = server.serve(echo);
      const clients = [
        bindDatagram({ hostname, port: 0 }),
        bindDatagram({ hostname, port: 0 }),
      ];
      const to = { hostname, port: server.port };
      for (const [index, client] of clients.entries()) {
        for (let first = 0; first < 50; first++) await client.send(new Uint8Array([first, index]), to);
      }
      for (const [index, client] of clients.entries()) {
        const answers: number[][] = [];
        while (answers.length < 48) answers.push([...(await client.receive(new Uint8Array(99)))[0]]);
        const expected = Array.from({ length: 50 }, (_, first) => first === 8 ? [8, index] : [first, index, 2])
          .filter(([first]) => first !== 7 && first !== 9);
        assert.deepEqual(answers.toSorted(([a = 0], [b = 0]) => a - b), expected);
        client.close();
      }
      server.close();
      await served;
    },
  );
}

Deno.test(`serve(): a late answer to a closed socket is dropped`, async () => {
  const [server, client] = [bindDatagram(ANY), bindDatagram(ANY)];
  const [asked, late] = [Promise.withResolvers<void>(), Promise.withResolvers<Uint8Array>()];
  const served = server.serve(() => {
    asked.resolve();
    return late.promise;
  });
  await client.send(new Uint8Array([1]), { hostname: "127.0.0.1", port: server.port });
  await asked.promise;
  server.close();
  await served;
  late.resolve(new Uint8Array([2]));
  await late.promise;
  client.close();
});

Deno.test("a UDP port in use is an error that names it", () => {
  const server = bindDatagram(ANY);
  assert.throws(
    () => bindDatagram({ hostname: "127.0.0.1", port: server.port }),
    (error) => error instanceof MeshError && error.message.includes(`UDP port ${server.port} of`),
  );
  server.close();
});

testWhen(
  Deno.build.os === "linux" ? undefined : "Linux reports refusals",
  `a host where nobody listens is reported, if that is asked for`,
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
