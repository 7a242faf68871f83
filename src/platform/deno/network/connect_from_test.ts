import assert from "node:assert/strict";
import { testWhen } from "../../../../test/support/test_when.ts";
import { realWorld } from "../../mod.ts";

const { network, system } = realWorld();
const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";

// The C library is opened by the first who needs it and stays open, which the sanitizer of a test would call a leak.
if (notLinux === undefined) system.interfaceIndex("lo");

function dial(host: string, port: number, source: string, signal = AbortSignal.timeout(10_000)) {
  return network.dial({ host, port, source, tls: undefined, signal });
}

testWhen(notLinux, "dial() connects from the source and carries bytes both ways", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  const connection = await dial("localhost", listener.addr.port, "127.0.0.6");
  const peer = await accepted;
  assert.equal(peer.remoteAddr.hostname, "127.0.0.6");
  const sent = new Uint8Array(100_000).map((_, at) => at % 251);
  const echoed = peer.readable.pipeTo(peer.writable);
  const write = async () => {
    for (let at = 0; at < sent.length;) at += await connection.write(sent.subarray(at));
  };
  const written = write();
  const received: number[] = [];
  const buffer = new Uint8Array(1000);
  while (received.length < sent.length) {
    received.push(...buffer.subarray(0, await connection.read(buffer) ?? assert.fail("it has ended")));
  }
  await written;
  connection.close();
  connection.close();
  await echoed.catch(() => {});
  assert.deepEqual(Uint8Array.from(received), sent);
});

testWhen(notLinux, "dial() from a source reports the kernel's error", async () => {
  const cases = [
    ["127.0.0.6", 'Cannot connect to "127.0.0.1:1": connect: connection refused'],
    ["192.0.2.1", 'Cannot connect to "127.0.0.1:1": bind: cannot assign requested address'],
  ] as const;
  for (const [source, message] of cases) {
    await assert.rejects(dial("127.0.0.1", 1, source), { name: "DialError", stage: "connection", message });
  }
});

testWhen(notLinux, "dial() from a source ends when the signal fires", async () => {
  // A backlog that is full drops what comes: the connection is neither made nor refused.
  const socket = system.openSocket({ kind: "stream", family: 4 });
  try {
    socket.bind({ address: { family: 4, value: 0x7f000001n, zone: "" }, port: 0 });
    socket.listen();
    const { port } = socket.local();
    const fill = async (): Promise<never> => {
      for (;;) await dial("127.0.0.1", port, "127.0.0.6", AbortSignal.timeout(300));
    };
    await assert.rejects(fill(), { name: "DialError", message: /timed out without an answer$/ });
  } finally {
    socket.close();
  }
});
