import assert from "node:assert/strict";
import { temporaryFolder } from "../../../../test/support/temporary_folder.ts";
import { joinBytes } from "../../../base/bytes.ts";
import { realNetwork } from "./network.ts";

Deno.test("listenUnix() accepts connections, sets the mode, and removes the socket", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/deep/down/socket`;
  const server = await realNetwork.listenUnix({ path, mode: 0o666 }, async (connection) => {
    await connection.write(new TextEncoder().encode("hello"));
    connection.close();
    connection.close();
  });
  assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o666);
  const client = await Deno.connect({ transport: "unix", path });
  const pieces: Uint8Array[] = [];
  for await (const piece of client.readable) pieces.push(piece);
  assert.equal(new TextDecoder().decode(joinBytes(pieces)), "hello");
  await server.close();
  assert.throws(() => Deno.lstatSync(path), Deno.errors.NotFound);
});

Deno.test("listenUnix() closes its connections on close()", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/socket`;
  const accepted = Promise.withResolvers<void>();
  const server = await realNetwork.listenUnix({ path, mode: 0o600 }, () => accepted.resolve());
  using client = await Deno.connect({ transport: "unix", path });
  await accepted.promise;
  await server.close();
  assert.equal(await client.read(new Uint8Array(1)), null);
});

Deno.test("A stale socket is replaced; a served one and any other file are not", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/socket`;
  const killed = Deno.listen({ transport: "unix", path: `${path}.new` });
  await Deno.rename(`${path}.new`, path);
  killed.close();
  assert.equal((await Deno.lstat(path)).isSocket, true);
  const server = await realNetwork.listenUnix({ path, mode: 0o600 }, (connection) => connection.close());
  await assert.rejects(realNetwork.serveUnix({ path, mode: 0o600 }, () => new Response()), {
    name: "MeshError",
    message: `Cannot listen on the Unix socket "${path}": another process serves it`,
  });
  await server.close();
  await Deno.writeTextFile(path, "mine");
  await assert.rejects(realNetwork.listenUnix({ path, mode: 0o600 }, () => {}), /the file is not a socket/);
  assert.equal(await Deno.readTextFile(path), "mine");
});

Deno.test("A path that is too long for a socket is an error", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/${"x".repeat(120)}`;
  await assert.rejects(realNetwork.listenUnix({ path, mode: 0o600 }, () => {}), { name: "MeshError" });
});

Deno.test("serveUnix() serves HTTP/2 without TLS, streams both ways at once, and ends streams on close()", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/socket`;
  const server = await realNetwork.serveUnix({ path, mode: 0o666 }, (request) => new Response(request.body));
  const { host, ...client } = await http2Of(path);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const answering = client.request(host, "/echo", { method: "POST", body: readable });
  writer.write(Uint8Array.of(1));
  const answer = await answering;
  const reader = answer.body?.getReader();
  assert.deepEqual((await reader?.read())?.value, Uint8Array.of(1));
  await writer.write(Uint8Array.of(2));
  assert.deepEqual((await reader?.read())?.value, Uint8Array.of(2));
  const ended = reader?.read();
  await server.close();
  await assert.rejects(async () => await ended);
  await client.ended;
  client.close();
  assert.throws(() => Deno.lstatSync(path), Deno.errors.NotFound);
});

Deno.test("http() leaves no folder, used or not, and resolves `ended`", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/socket`;
  const server = await realNetwork.serveUnix({ path, mode: 0o666 }, () => new Response("x"));
  const before = ownFolders();
  for (const isUsed of [true, false]) {
    const { host, ...client } = await http2Of(path);
    if (isUsed) assert.equal(await (await client.request(host, "/", {})).text(), "x");
    client.close();
    await client.ended;
    await assert.rejects(client.request(host, "/", {}));
  }
  await server.close();
  assert.deepEqual(ownFolders(), before);
});

function ownFolders(): string[] {
  return [...Deno.readDirSync("/tmp")].map(({ name }) => name).filter((name) => name.startsWith("kubectl-mesh-h2-"));
}

async function http2Of(path: string) {
  const made = await Deno.connect({ transport: "unix", path });
  let isOpen = true;
  const close = () => {
    if (isOpen) made.close();
    isOpen = false;
  };
  const connection = { read: made.read.bind(made), write: made.write.bind(made), close };
  return { ...await realNetwork.http(connection, "h2"), host: "server.test" };
}
