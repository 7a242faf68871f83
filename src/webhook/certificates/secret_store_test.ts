import assert from "node:assert/strict";
import { MemoryApi } from "../../../test/support/kube/memory_api.ts";
import { bundleOf } from "./certificate_set.ts";
import { LIFETIMES } from "./renewal.ts";
import { agree } from "./secret_store.ts";

const PATH = "/api/v1/namespaces/mesh/secrets/certs";
const DAY = 86_400_000;

/** The Secret in the manifests. */
const EMPTY = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "certs", namespace: "mesh", labels: { "app.kubernetes.io/managed-by": "kubectl-mesh" } },
  type: "Opaque",
};

/** An API with the empty Secret. */
function shipped(): MemoryApi {
  const api = new MemoryApi();
  api.put(PATH, EMPTY);
  return api;
}

function asked(api: MemoryApi, day = 0) {
  const now = new Date(Date.parse("2026-11-21T00:00:00Z") + day * DAY);
  const context = { dnsNames: ["a.mesh.svc"], lifetimes: LIFETIMES, now, jitter: 0 };
  return agree({ api, namespace: "mesh", name: "certs" }, context);
}

Deno.test("replicas that start at once agree on the authority of one of them", async () => {
  const api = shipped();
  const agreements = await Promise.all(Array.from({ length: 5 }, () => asked(api)));
  assert.equal(new Set(agreements.map(({ certificates }) => bundleOf(certificates))).size, 1);
  assert.equal(new Set(agreements.map(({ certificates }) => certificates.serving.key.pem())).size, 1);
  assert.deepEqual(agreements.filter(({ written }) => written !== undefined).length, 1);
  assert.equal(api.requests.filter((request) => request.startsWith("replace")).length, 5);
  assert.equal(api.at(PATH)?.["type"], "Opaque");
});

Deno.test("replicas that renew at once agree too, and keep foreign metadata of the Secret", async () => {
  const api = shipped();
  const { certificates: old } = await asked(api);
  const secret = api.at(PATH);
  assert(secret !== undefined);
  api.put(PATH, { ...secret, metadata: { ...secret.metadata, annotations: { team: "mesh" } } });
  const agreements = await Promise.all(Array.from({ length: 5 }, () => asked(api, 61)));
  const keys = new Set(agreements.map(({ certificates }) => certificates.serving.key.pem()));
  assert.equal(keys.size, 1);
  assert(!keys.has(old.serving.key.pem()));
  assert.equal(new Set([old, ...agreements.map(({ certificates }) => certificates)].map(bundleOf)).size, 1);
  assert.deepEqual(api.at(PATH)?.metadata["annotations"], { team: "mesh" });
});

Deno.test("a Secret without one part gets new certificates", async () => {
  const api = shipped();
  await asked(api);
  const secret = api.at(PATH);
  assert(secret !== undefined);
  api.put(PATH, { ...secret, data: { "tls.crt": "", "tls.key": "" } });
  assert.equal((await asked(api)).written, "the Secret had no valid certificates");
  assert.equal((await asked(api)).written, undefined);
});

Deno.test("a Secret that is absent is not created: the right would hold for any name", async () => {
  const api = new MemoryApi();
  await assert.rejects(asked(api), {
    message: 'Secret "mesh/certs" does not exist',
    hint: 'apply the output of "kubectl mesh webhook manifests"',
  });
  assert.deepEqual(api.requests, [`get ${PATH}`]);
});

Deno.test("a foreign Secret is not changed", async () => {
  const foreign = { apiVersion: "v1", kind: "Secret", metadata: { name: "certs", namespace: "mesh" } };
  for (
    const rest of [{ type: "kubernetes.io/tls" }, { type: "Opaque", data: { "tls.crt": "QQ==", "tls.key": "QQ==" } }]
  ) {
    const api = new MemoryApi();
    api.put(PATH, { ...foreign, ...rest });
    await assert.rejects(asked(api), { message: 'Secret "mesh/certs" is not managed by kubectl-mesh' });
    assert.deepEqual(api.requests, [`get ${PATH}`]);
  }
});
