import assert from "node:assert/strict";
import { testWhen } from "../../../test/support/test_when.ts";
import { EADDRINUSE, type Endpoint, realWorld, type Socket, SystemError } from "../mod.ts";

const MISSING = Deno.build.os === "linux" ? undefined : "it is of Linux";
const { system, clock } = realWorld();
// The library stays open for the whole process: opened here, it is no leak of a test.
if (MISSING === undefined) {
  system.openSocket({ kind: "datagram", family: 4 }).close();
  assert.throws(() => system.netlink(-1, new Uint8Array()));
}

function loopback(family: 4 | 6, port: number): Endpoint {
  return { address: { family, value: family === 4 ? 0x7f000001n : 1n, zone: "" }, port };
}

async function soon<T>(ask: () => T | undefined): Promise<T> {
  for (let turn = 0; turn < 2000; turn++) {
    const answer = ask();
    if (answer !== undefined) return answer;
    await clock.sleep(1);
  }
  throw new Error("nothing came within two seconds");
}

function listener(family: 4 | 6): Socket {
  const socket = system.openSocket({ kind: "stream", family });
  socket.bind(loopback(family, 0));
  socket.listen();
  return socket;
}

testWhen(MISSING, "openSocket(): a connection carries bytes, and both ends know the other", async () => {
  const server = listener(4);
  const client = system.openSocket({ kind: "stream", family: 4 });
  assert.equal(server.accept(), undefined);
  client.connect(server.local());
  const { socket, remote } = await soon(() => server.accept());
  assert.deepEqual(remote, client.local());
  assert.equal(client.failure(), 0);
  assert.equal(client.receive(), undefined);
  socket.send(new TextEncoder().encode("hello"));
  assert.equal(new TextDecoder().decode(await soon(() => client.receive())), "hello");
  socket.close();
  assert.equal((await soon(() => client.receive())).length, 0);
  client.close();
  server.close();
});

testWhen(MISSING, "openSocket(): a port in use and a free one", async () => {
  const server = listener(4);
  const other = system.openSocket({ kind: "stream", family: 4 });
  assert.throws(
    () => other.bind(server.local()),
    (error) => error instanceof SystemError && error.errno === EADDRINUSE,
  );
  const free = server.local();
  server.close();
  other.connect(free);
  const failure = await soon(() => other.failure() || undefined);
  assert.equal(new SystemError("connect", failure).message, "connect: connection refused");
  other.close();
});

testWhen(MISSING, "openSocket(): a datagram", async () => {
  const server = system.openSocket({ kind: "datagram", family: 4 });
  server.bind(loopback(4, 0));
  const client = system.openSocket({ kind: "datagram", family: 4 });
  client.connect(server.local());
  client.send(Uint8Array.of(1, 2, 3));
  assert.deepEqual([...await soon(() => server.receive())], [1, 2, 3]);
  client.close();
  server.close();
});

testWhen(
  MISSING ?? (Deno.uid() === 0 ? "it runs as root" : undefined),
  "openSocket(): a user without SETUID opens none for another",
  () => {
    assert.throws(
      () => system.openSocket({ kind: "stream", family: 4, uid: 4242 }),
      /setfsuid: operation not permitted/,
    );
  },
);

testWhen(
  MISSING ?? (Deno.uid() === 0 ? undefined : "it needs root"),
  "openSocket(): a socket of another user is shown as such, and the next one is one's own",
  async () => {
    const theirs = system.openSocket({ kind: "datagram", family: 4, uid: 4242, gid: 4243 });
    theirs.bind(loopback(4, 0));
    const mine = system.openSocket({ kind: "datagram", family: 4 });
    mine.bind(loopback(4, 0));
    const owners = new Map(
      (await Deno.readTextFile("/proc/net/udp")).split("\n").map((line) => {
        const [, local = "", , , , , , uid] = line.trim().split(/\s+/);
        return [parseInt(local.split(":")[1] ?? "", 16), uid];
      }),
    );
    assert.deepEqual([owners.get(theirs.local().port), owners.get(mine.local().port)], ["4242", "0"]);
    theirs.close();
    mine.close();
  },
);

testWhen(MISSING, "interfaceIndex(): loopback is 1, an unknown interface has none", () => {
  assert.equal(system.interfaceIndex("lo"), 1);
  assert.equal(system.interfaceIndex("nosuchinterface"), undefined);
});

testWhen(MISSING, "netlink(): the links of this namespace in one answer", () => {
  const getLinks = new Uint8Array([32, 0, 0, 0, 18, 0, 1, 3, 1, 0, 0, 0, 0, 0, 0, 0, ...new Uint8Array(16)]);
  const answer = system.netlink(0, getLinks);
  const type = new DataView(answer.buffer).getUint16(4, true);
  assert.equal(type, 16);
  assert.ok(new TextDecoder("latin1").decode(answer).includes("lo\0"));
});

testWhen(MISSING, "enterNetworkNamespace(): a file that is not a namespace is an error", () => {
  assert.throws(() => system.enterNetworkNamespace("/nonexistent"), /open: no such file or directory/);
});
