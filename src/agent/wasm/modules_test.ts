import { getLogger } from "@logtape/logtape";
import assert from "node:assert/strict";
import { temporaryFolder } from "../../../test/support/temporary_folder.ts";
import { realWorld } from "../../platform/deno/world.ts";
import type { World } from "../../platform/world.ts";
import { wasmMetrics } from "./metrics.ts";
import { wasmModules } from "./modules.ts";

const MODULE = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

Deno.test("wasmModules: a file that cannot be removed does not stop the agent", async () => {
  await using folder = await temporaryFolder();
  const real = realWorld();
  const removal = Promise.withResolvers<void>();
  const steps = [Promise.withResolvers<void>()];
  const world: World = {
    ...real,
    clock: {
      ...real.clock,
      sleep: (_milliseconds, signal) => steps.shift()?.promise ?? real.clock.sleep(1e9, signal),
    },
    files: {
      ...real.files,
      remove() {
        removal.resolve();
        return Promise.reject(new Error("it is read-only"));
      },
    },
    network: {
      ...real.network,
      fetch: () => Promise.resolve(new Blob([MODULE]).stream()),
    },
  };
  const step = steps[0];
  const modules = wasmModules(world, {
    folders: [folder.path],
    expiry: -1,
    purgeInterval: 1,
    requestTimeout: 10_000,
    attempts: 1,
    insecureHosts: [],
    keychains: [],
    log: getLogger(["test", "wasm"]),
    metrics: wasmMetrics(),
  });
  const source = {
    sha256: "",
    resource: "a",
    version: "1",
    policy: "",
    pullSecret: undefined,
    timeout: 10_000,
  } as const;
  const file = await modules.file({ ...source, url: "https://example.org/a.wasm" });
  step?.resolve();
  await removal.promise;
  await modules.close();
  assert.deepEqual(await Deno.readFile(file), MODULE);
});
