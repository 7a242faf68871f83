import assert from "node:assert/strict";
import { openWebSocket } from "./web_socket.ts";

Deno.test("messages that arrive after the reader has stopped are dropped", async () => {
  const closed = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    // The messages behind the first one are on their way when the client closes.
    socket.onopen = () => [..."abcdefghij"].forEach((letter) => socket.send(letter.repeat(100_000)));
    socket.onclose = () => closed.resolve();
    return response;
  });
  using client = Deno.createHttpClient({});
  const request = { protocols: [], headers: new Headers(), signal: new AbortController().signal };
  const { messages } = await openWebSocket(`ws://127.0.0.1:${server.addr.port}`, request, client);
  const reader = messages.getReader();
  assert.equal((await reader.read()).value?.length, 100_000);
  await reader.cancel();
  await closed.promise;
  await server.shutdown();
});
