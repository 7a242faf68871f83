import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { startLog } from "../../platform/log.ts";
import type { ServeOptions } from "../../platform/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { startStatusServer } from "./server.ts";

/** Starts a server on a machine that has only these addresses. */
async function start(...addresses: readonly string[]) {
  const fake = fakeWorld();
  const tried: string[] = [];
  const network = {
    ...fake.network,
    serve(options: ServeOptions) {
      tried.push(`${options.hostname} ${options.port}`);
      if (!addresses.includes(options.hostname)) throw new MeshError(`Cannot serve on "${options.hostname}"`);
      return Promise.resolve({ port: options.port, close: () => Promise.resolve() });
    },
  };
  const server = await startStatusServer({ ...fake, network }, {
    port: 15020,
    logger: startLog(fake, "agent"),
    version: "1.2.3",
    envoy: undefined,
    application: { probers: new Map(), host: "localhost", isHttp2Offered: true },
    scrapeTargets: [],
    areMetricsLocal: false,
    terminating: () => undefined,
    onQuit: () => {},
    onDrain: () => {},
  });
  return { server, tried, log: fake.said.stderr };
}

Deno.test("the server listens on both families", async () => {
  const { server, tried } = await start("::", "0.0.0.0");
  assert.deepEqual([server.port, tried], [15020, [":: 15020"]]);
});

Deno.test("without IPv6 the server listens on IPv4", async () => {
  const { server, tried, log } = await start("0.0.0.0");
  assert.deepEqual([server.port, tried], [15020, [":: 15020", "0.0.0.0 15020"]]);
  assert.doesNotMatch(log, /error/);
});

Deno.test("the agent runs without the status server if it cannot listen", async () => {
  const { server, log } = await start();
  assert.equal(server.port, undefined);
  assert.match(
    log,
    /error agent: Error listening on status port: Cannot serve on "::"; Cannot serve on "0.0.0.0"; the agent/,
  );
  await server.close();
});
