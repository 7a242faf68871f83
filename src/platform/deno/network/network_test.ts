import assert from "node:assert/strict";
import { realNetwork } from "./network.ts";

/** Serves `answer` on loopback while `body` runs. */
async function served(answer: string, body: (port: number) => Promise<void>) {
  const server = await realNetwork.serve({ hostname: "127.0.0.1", port: 0 }, () => new Response(answer));
  try {
    await body(server.port);
  } finally {
    await server.close();
  }
}

async function proxies(): Promise<void> {
  await served("from the proxy", (proxy) =>
    served("from the server", async (port) => {
      Deno.env.set("HTTP_PROXY", `http://127.0.0.1:${proxy}`);
      Deno.env.set("NO_PROXY", "internal.test");
      try {
        const text = async (url: string) => await (await realNetwork.request(url)).text();
        assert.equal(await text(`http://127.0.0.1:${port}/`), "from the server");
        assert.equal(await text(`http://localhost:${port}/`), "from the server");
        assert.equal(await text("http://other.test/"), "from the proxy");
        await assert.rejects(text("http://internal.test/"), /error sending request/);
        assert.equal(Deno.env.get("NO_PROXY"), "internal.test");
      } finally {
        Deno.env.delete("HTTP_PROXY");
        Deno.env.delete("NO_PROXY");
      }
    }));
}

Deno.test({
  name: "request() uses a proxy for other hosts, never for loopback, and leaves the environment unchanged",
  // The client is the process's.
  sanitizeResources: false,
  fn: proxies,
});

Deno.test("lookup() finds local names, and nothing for an unknown name", async () => {
  assert.ok((await realNetwork.lookup("localhost")).includes("127.0.0.1"));
  assert.deepEqual(await realNetwork.lookup("no-such-name.invalid"), []);
});

Deno.test("isServed() is false for a stale socket", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/socket`;
  try {
    assert.equal(await realNetwork.isServed(path), false);
    const listener = Deno.listen({ transport: "unix", path });
    assert.equal(await realNetwork.isServed(path), true);
    listener.close();
    assert.equal(await realNetwork.isServed(path), false);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
