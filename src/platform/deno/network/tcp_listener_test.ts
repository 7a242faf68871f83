import assert from "node:assert/strict";
import { MeshError } from "../../../base/errors.ts";
import type { ByteConnection } from "../../connection.ts";
import { listenTcp } from "./tcp_listener.ts";

Deno.test("listenTcp() gives connections with their remote address, and closes them on close()", async () => {
  const given = Promise.withResolvers<readonly [ByteConnection, number]>();
  const listener = listenTcp({ hostname: "127.0.0.1", port: 0 }, (made, { port }) => given.resolve([made, port]));
  const client = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
  const [connection, port] = await given.promise;
  assert.equal(port, client.localAddr.port);
  await client.write(new Uint8Array([7]));
  const buffer = new Uint8Array(9);
  assert.equal(await connection.read(buffer), 1);
  await listener.close();
  assert.equal(await client.read(buffer), null);
  client.close();
});

Deno.test("a TCP port in use is an error that names it", async () => {
  const listener = listenTcp({ hostname: "127.0.0.1", port: 0 }, () => {});
  const again = () => listenTcp({ hostname: "127.0.0.1", port: listener.port }, () => {});
  assert.throws(again, (error) => error instanceof MeshError && error.message.includes(`TCP port ${listener.port} of`));
  await listener.close();
});
