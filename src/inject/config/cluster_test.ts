import assert from "node:assert/strict";
import { MemoryApi } from "../../../test/support/kube/memory_api.ts";
import { ApiError } from "../../kube/client/api.ts";
import { clusterConfiguration, clusterNames, revisionConfiguration } from "./cluster.ts";

Deno.test("clusterNames() gives the names of Istio's installation, or the given ones", () => {
  const usual = { namespace: "istio-system", injector: "istio-sidecar-injector", mesh: "istio" };
  assert.deepEqual(clusterNames({}), usual);
  assert.deepEqual(clusterNames({ revision: "default" }), usual);
  assert.deepEqual(clusterNames({ revision: "canary", istioNamespace: "mesh" }), {
    namespace: "mesh",
    injector: "istio-sidecar-injector-canary",
    mesh: "istio-canary",
  });
  assert.equal(clusterNames({ revision: "canary", meshConfigMapName: "mine" }).mesh, "mine");
});

const MAPS = "/api/v1/namespaces/istio-system/configmaps";

function put(api: MemoryApi, name: string, data: Record<string, string> = {}): void {
  const metadata = { name, namespace: "istio-system" };
  api.put(`${MAPS}/${name}`, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
}

Deno.test("clusterConfiguration() reads three texts; values are optional", async () => {
  const api = new MemoryApi();
  put(api, "istio", { mesh: "M" });
  put(api, "istio-sidecar-injector", { config: "C", values: "V" });
  const found = await clusterConfiguration(api, clusterNames({}));
  assert.deepEqual([found.config.text, found.values?.text, found.mesh.text], ["C", "V", "M"]);
  assert.equal(found.mesh.file, 'ConfigMap "istio-system/istio" (key "mesh")');
  put(api, "istio-sidecar-injector", { config: "C" });
  assert.equal((await clusterConfiguration(api, clusterNames({}))).values, undefined);
});

Deno.test("clusterConfiguration() names existing ConfigMaps, as far as it may read them", async () => {
  const api = new MemoryApi();
  const asked = () => clusterConfiguration(api, clusterNames({ revision: "next" }));
  put(api, "kube-root-ca.crt");
  await assert.rejects(asked(), { hint: /^the namespace has no ConfigMap of Istio/ });
  put(api, "istio-canary");
  await assert.rejects(asked(), { hint: /^found "istio-canary": choose with --revision/ });
  api.failing = (request) => request.startsWith("list") ? new ApiError("forbidden", { status: 403 }) : undefined;
  await assert.rejects(asked(), { hint: /^see --istioNamespace/ });
});

Deno.test("revisionConfiguration() finds the ConfigMap of this program's webhook where Istio has none", async () => {
  const api = new MemoryApi();
  put(api, "kubectl-mesh-webhook", { config: "C", values: "V" });
  put(api, "kubectl-mesh-webhook-canary", { config: "D", mesh: "M" });
  const usual = await revisionConfiguration(api, {});
  assert.deepEqual([usual.config.text, usual.values?.text, usual.mesh.text], ["C", "V", ""]);
  const canary = await revisionConfiguration(api, { revision: "canary" });
  assert.deepEqual([canary.config.text, canary.mesh.text, canary.revision], ["D", "M", "canary"]);
  await assert.rejects(revisionConfiguration(api, { injectConfigMapName: "mine" }), /"mine" does not exist/);
  put(api, "istio", { mesh: "I" });
  put(api, "istio-sidecar-injector", { config: "I" });
  assert.equal((await revisionConfiguration(api, {})).config.text, "I");
});
