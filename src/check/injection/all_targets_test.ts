import assert from "node:assert/strict";
import { allTargets } from "./all_targets.ts";

Deno.test("without any workload the hint is about the cluster or the namespace", async () => {
  const list = () => Promise.resolve({ items: [], resourceVersion: "1" });
  const get = () => Promise.resolve({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const api = { list, get };
  await assert.rejects(allTargets(api, { namespace: undefined }), {
    message: "The cluster has no workload",
    hint: "see --context",
  });
  await assert.rejects(allTargets(api, { namespace: "shop" }), {
    message: 'There is no workload in the namespace "shop"',
    hint: "see --namespace",
  });
});
