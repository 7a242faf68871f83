import assert from "node:assert/strict";
import { requestFailure } from "./request_failure.ts";
import { realWorld } from "./mod.ts";

const { network } = realWorld();

// The first request to another machine makes a client that lives as long as the process.
await network.request("http://nowhere.invalid/").catch(() => {});

async function failureOf(url: string, init?: RequestInit) {
  try {
    await (await network.request(url, init)).body?.cancel();
  } catch (error) {
    return requestFailure(error, 30);
  }
  throw new Error("The request was answered");
}

/** A TCP server that does the same to every connection, while `body` runs. */
async function withServer(serve: (connection: Deno.TcpConn) => void, body: (port: number) => Promise<void>) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections: Deno.TcpConn[] = [];
  const serving = (async () => {
    for await (const connection of listener) {
      connections.push(connection);
      serve(connection);
    }
  })();
  try {
    await body(listener.addr.port);
  } finally {
    listener.close();
    await serving.catch(() => {});
    for (const connection of connections) connection.close();
  }
}

Deno.test("requestFailure() distinguishes a closed port, an unknown name, a timeout and other errors by the runtime's texts", async () => {
  await withServer(() => {}, async (port) => {
    assert.deepEqual(await failureOf(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(30) }), {
      kind: "silent",
      text: "no answer within 30ms",
    });
  });
  const broken = (connection: Deno.TcpConn) => void connection.write(new TextEncoder().encode("SSH-2.0-x\r\n\r\n"));
  await withServer(broken, async (port) => {
    const failure = await failureOf(`http://127.0.0.1:${port}`);
    assert.equal(failure.kind, "other");
    assert.match(failure.text, /^invalid HTTP version parsed/);
  });
  assert.deepEqual(await failureOf("http://127.0.0.1:59991/"), { kind: "refused", text: "connection refused" });
  assert.deepEqual(await failureOf("http://nowhere.invalid/"), {
    kind: "unknown-name",
    text: "the host name is unknown",
  });
});

Deno.test("requestFailure() returns the text of any other error, shortened", () => {
  assert.deepEqual(requestFailure("x".repeat(999), 1), { kind: "other", text: "x".repeat(300) });
});
