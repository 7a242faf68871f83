import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import type { SourceChoice } from "../question/question.ts";
import { savedEnds, snapshotsOf } from "./sources.ts";

const SOURCE: SourceChoice = {
  kind: "live",
  pods: { name: undefined, selector: undefined, namespace: "shop", allNamespaces: false, container: undefined },
  api: { server: "http://api.test" },
  ephemeral: false,
};

Deno.test("the progress of many pods counts each pod that was read", async () => {
  const metadata = { namespace: "shop", annotations: { "ambient.istio.io/redirection": "enabled" } };
  const items = ["a", "b", "c"].map((name) => ({ metadata: { ...metadata, name }, spec: {} }));
  const request = () => Promise.resolve(Response.json({ kind: "PodList", apiVersion: "v1", items }));
  const counted: number[] = [];
  const progress = {
    at: (done: number) => void counted.push(done),
    now: () => {},
    hide: () => {},
    end: () => {},
    soFar: () => "",
  };
  const read = await Array.fromAsync(snapshotsOf(fakeWorld({ request }), SOURCE, { progress, depth: "short" }));
  assert.deepEqual([read.map(({ snapshot }) => snapshot.pod.name), counted], [["a", "b", "c"], [0, 1, 2, 3]]);
});

Deno.test("an address of no snapshot names the way to add its pod", async () => {
  assert.deepEqual(await savedEnds(new Map()).podAt("10.0.0.1", undefined), {
    why: "none of the snapshots has the address 10.0.0.1; add the snapshot of its pod with another -f",
  });
});
