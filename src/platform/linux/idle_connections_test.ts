import assert from "node:assert/strict";
import { testWhen } from "../../../test/support/test_when.ts";
import { until } from "../../../test/support/until.ts";
import { idleConnections } from "./idle_connections.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";

/** Connections to a listener, and how many of them its end has closed. */
async function withConnections(count: number, body: (port: number, closed: () => number) => Promise<void>) {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const pairs: { readonly outer: Deno.Conn; readonly inner: Deno.Conn }[] = [];
  for (let made = 0; made < count; made++) {
    const [outer, inner] = await Promise.all([Deno.connect({ port: listener.addr.port }), listener.accept()]);
    pairs.push({ outer, inner });
  }
  let closed = 0;
  const reads = pairs.map(async ({ outer }) => {
    const end = await outer.read(new Uint8Array(1)).catch(() => undefined);
    if (end === null) closed++;
  });
  await body(listener.addr.port, () => closed);
  for (const { outer, inner } of pairs) {
    outer.close();
    inner.close();
  }
  await Promise.all(reads);
}

testWhen(
  notLinux,
  "idleConnections() closes the most silent connections of too many",
  () =>
    withConnections(5, async (port, closed) => {
      const idle = idleConnections(port, { most: 3, silence: 60_000 });
      assert.equal(idle.sweep(), 2);
      await until(() => closed() === 2);
      idle.close();
    }),
);

testWhen(
  notLinux,
  "idleConnections() closes connections that are silent, and leaves connections of other ports",
  () =>
    withConnections(2, async (port, closed) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const other = idleConnections(port + 1, { most: 0, silence: 0 });
      assert.equal(other.sweep(), 0);
      other.close();
      const patient = idleConnections(port, { most: 10, silence: 60_000 });
      assert.equal(patient.sweep(), 0);
      patient.close();
      const idle = idleConnections(port, { most: 10, silence: 20 });
      assert.equal(idle.sweep(), 2);
      await until(() => closed() === 2);
      idle.close();
    }),
);
