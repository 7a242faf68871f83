import assert from "node:assert/strict";
import { MemoryApi } from "../../../test/support/kube/memory_api.ts";
import { bundleOf } from "./material.ts";
import { LIFETIMES } from "./renewal.ts";
import { agree } from "./secret_store.ts";

const PATH = "/api/v1/namespaces/mesh/secrets/certs";
const DAY = 86_400_000;

function asked(api: MemoryApi, day = 0) {
  const now = new Date(Date.parse("2026-11-21T00:00:00Z") + day * DAY);
  const circumstances = { dnsNames: ["a.mesh.svc"], lifetimes: LIFETIMES, now, jitter: 0 };
  return agree({ api, namespace: "mesh", name: "certs" }, circumstances);
}

Deno.test("replicas that start at once agree on one authority, which one of them made", async () => {
  const api = new MemoryApi();
  const agreements = await Promise.all(Array.from({ length: 5 }, () => asked(api)));
  assert.equal(new Set(agreements.map(({ material }) => bundleOf(material))).size, 1);
  assert.equal(new Set(agreements.map(({ material }) => material.serving.key.pem())).size, 1);
  assert.deepEqual(agreements.filter(({ written }) => written !== undefined).length, 1);
  assert.equal(api.requests.filter((request) => request.startsWith("create")).length, 5);
  assert.equal(api.at(PATH)?.["type"], "kubernetes.io/tls");
});

Deno.test("replicas that renew at once agree too, and keep what others wrote into the Secret's metadata", async () => {
  const api = new MemoryApi();
  const { material: old } = await asked(api);
  const secret = api.at(PATH);
  assert(secret !== undefined);
  api.put(PATH, { ...secret, metadata: { ...secret.metadata, annotations: { team: "mesh" } } });
  const agreements = await Promise.all(Array.from({ length: 5 }, () => asked(api, 61)));
  const keys = new Set(agreements.map(({ material }) => material.serving.key.pem()));
  assert.equal(keys.size, 1);
  assert(!keys.has(old.serving.key.pem()));
  assert.equal(new Set([old, ...agreements.map(({ material }) => material)].map(bundleOf)).size, 1);
  assert.deepEqual(api.at(PATH)?.metadata["annotations"], { team: "mesh" });
});

Deno.test("a Secret that lost a part gets new certificates", async () => {
  const api = new MemoryApi();
  await asked(api);
  const secret = api.at(PATH);
  assert(secret !== undefined);
  api.put(PATH, { ...secret, data: { "tls.crt": "", "tls.key": "" } });
  assert.equal((await asked(api)).written, "there was none");
  assert.equal((await asked(api)).written, undefined);
});

Deno.test("a Secret that somebody else made is left alone", async () => {
  const foreign = { apiVersion: "v1", kind: "Secret", metadata: { name: "certs", namespace: "mesh" } };
  for (
    const rest of [{ type: "Opaque" }, { type: "kubernetes.io/tls", data: { "tls.crt": "QQ==", "tls.key": "QQ==" } }]
  ) {
    const api = new MemoryApi();
    api.put(PATH, { ...foreign, ...rest });
    await assert.rejects(asked(api), { message: 'Secret "mesh/certs" was not made by this program' });
    assert.deepEqual(api.requests, [`get ${PATH}`]);
  }
});
