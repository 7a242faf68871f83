import assert from "node:assert/strict";
import { ClusterPool, type Lent, type PoolServer } from "./pool.ts";

/** A pool of one server, and the events of its servers. `dying`: whether a server dies after its first loan. */
async function pool(dying: (server: number) => boolean, failing: (start: number) => boolean = () => false) {
  const folder = await Deno.makeTempDir();
  const events: string[] = [];
  let starts = 0;
  const start = (): Promise<PoolServer> => {
    const id = ++starts;
    let loans = 0;
    if (failing(id)) return Promise.reject(new Error(`start ${id} fails`));
    return Promise.resolve({
      folder: `server ${id}`,
      isAlive: () => Promise.resolve(!dying(id) || loans === 0),
      record: () => {
        loans++;
        return Promise.resolve(() => Promise.resolve(void events.push(`restore ${id}`)));
      },
      stop: () => Promise.resolve(void events.push(`stop ${id}`)),
    });
  };
  const clusters = new ClusterPool(`${folder}/pool`, 1, start);
  return {
    events,
    async borrow(): Promise<Lent> {
      using connection = await Deno.connect({ transport: "unix", path: clusters.path });
      const bytes = new Uint8Array(1000);
      const length = await connection.read(bytes);
      return JSON.parse(new TextDecoder().decode(bytes.subarray(0, length ?? 0)));
    },
    async [Symbol.asyncDispose]() {
      await clusters.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test("a server of the pool is lent again, restored", async () => {
  await using clusters = await pool(() => false);
  assert.deepEqual([await clusters.borrow(), await clusters.borrow()], [{ folder: "server 1" }, {
    folder: "server 1",
  }]);
  assert.equal(clusters.events[0], "restore 1");
});

Deno.test("a server that has died since its last test is replaced", async () => {
  await using clusters = await pool((server) => server === 1);
  assert.deepEqual([await clusters.borrow(), await clusters.borrow()], [{ folder: "server 1" }, {
    folder: "server 2",
  }]);
  assert.deepEqual(clusters.events.slice(0, 2), ["restore 1", "stop 1"]);
});

Deno.test("a failed start is retried, and the last error reaches the test", async () => {
  await using clusters = await pool(() => false, (start) => start <= 2);
  assert.deepEqual(await clusters.borrow(), { folder: "server 3" });
  await using broken = await pool(() => false, () => true);
  assert.deepEqual(await broken.borrow(), { error: "Error: start 3 fails" });
});
