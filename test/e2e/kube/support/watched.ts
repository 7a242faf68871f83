/** A watch that continues after a restart of the API server. */
import assert from "node:assert/strict";
import { connect } from "../../../../src/kube/client/mod.ts";
import { realWorld } from "../../../../src/platform/mod.ts";
import type { Cluster } from "../../support/cluster/cluster.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

/** A watch that has seen a ConfigMap. */
export interface Watched {
  /** Waits until the watch reports a change after the restart. Older objects must not be repeated. */
  outlives(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the watch. */
export async function startWatch({ kubeconfig }: Cluster): Promise<Watched> {
  const api = await connect(realWorld(), { kubeconfig });
  const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: {} });
  const stop = new AbortController();
  const seen: string[] = [];
  let next = Promise.withResolvers<void>();
  const note = (what: string) => {
    seen.push(what);
    next.resolve();
    next = Promise.withResolvers();
  };
  const watching = async () => {
    const options = { synced: () => note("synced"), failed: () => note("failed") };
    for await (const { type, object } of api.watch(MAPS, {}, stop.signal, options)) {
      note(`${type} ${object.metadata.name}`);
    }
  };
  const ended = watching();
  const has = async (what: string, from = 0) => {
    while (!seen.includes(what, from)) await next.promise;
  };
  await has("synced");
  await api.create(MAPS, map("before"));
  await has("ADDED before");
  const from = seen.length;
  return {
    async outlives() {
      await has("synced", from);
      await api.create(MAPS, map("after"));
      await has("ADDED after");
      await api.remove(`${MAPS}/before`);
      await has("DELETED before");
      assert.equal(seen.filter((what) => what === "ADDED before").length, 1);
    },
    async stop() {
      stop.abort();
      await ended;
      api.close();
    },
  };
}
