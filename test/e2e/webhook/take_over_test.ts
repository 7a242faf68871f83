/** `webhook manifests --take-over` and the script of `--undo`, run by a shell. */
import assert from "node:assert/strict";
import { runMesh } from "../../support/programs/mesh.ts";
import { CERTIFICATE } from "../../support/tls/self_signed.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { apply, kubectl } from "../support/webhook.ts";

const NAME = "istio-sidecar-injector";
const CONFIGURATION = `mutatingwebhookconfiguration/${NAME}`;
const MESH = ["webhook", "manifests", "--namespace", "mesh"];

testWhen(
  needsCluster() ?? needsProgram("kubectl"),
  "--undo restores Istio's injector and leaves nothing",
  async (t) => {
    const cluster = await startCluster();
    const folder = await Deno.makeTempDir();
    try {
      for (const name of ["istio-system", "mesh"]) await kubectl(cluster, ["create", "namespace", name]);
      const objects = await namesIn(cluster);
      await apply(cluster, injector());
      await apply(cluster, istiod());
      const before = await configuration(cluster);
      const undo = (await runMesh([...MESH, "--undo"])).stdout;
      await t.step("the save command that it prints works", async () => {
        const save = /^# {3}(kubectl get .*)$/m.exec(undo)?.[1] ?? "";
        assert.equal((await shell(cluster, folder, save)).code, 0);
      });
      await t.step("the take-over replaces the injector", async () => {
        const { stdout, stderr } = await runMesh([...MESH, "--take-over"]);
        assert.match(stderr, /^warning: "istio-sidecar-injector" replaces istiod's injector/m);
        await kubectl(cluster, ["apply", "-f", "-"], stdout);
        assert.notDeepEqual(await configuration(cluster), before);
      });
      await t.step("without the saved file the script changes nothing", async () => {
        const elsewhere = await Deno.makeTempDir();
        const served = await configuration(cluster);
        const { code, stderr } = await shell(cluster, elsewhere, undo);
        await Deno.remove(elsewhere, { recursive: true });
        assert.deepEqual([code, stderr], [1, `error: ${NAME}.json is missing; nothing is changed\n`]);
        assert.deepEqual(await configuration(cluster), served);
        await kubectl(cluster, ["get", "-n", "mesh", "deployment/kubectl-mesh-webhook"]);
      });
      await t.step("the script restores it, and deletes everything else", async () => {
        const { code, stderr } = await shell(cluster, folder, undo);
        assert.equal(code, 0, stderr);
        assert.deepEqual(await configuration(cluster), before);
        assert.deepEqual(await namesIn(cluster), [...objects, "deployment.apps/istiod"].sort());
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
      await cluster.stop();
    }
  },
);

/** The injector's configuration, as Istio's chart creates it and istiod completes it. */
function injector() {
  const clientConfig = {
    service: { name: "istiod", namespace: "istio-system", path: "/inject", port: 443 },
    caBundle: btoa(CERTIFICATE),
  };
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }];
  const namespaceSelector = { matchLabels: { "istio-injection": "enabled" } };
  const webhook = { name: "namespace.sidecar-injector.istio.io", clientConfig, rules, namespaceSelector };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: NAME, labels: { app: "sidecar-injector", "istio.io/rev": "default", release: "istio" } },
    webhooks: [{ ...webhook, sideEffects: "None", admissionReviewVersions: ["v1"] }],
  };
}

function istiod() {
  const containers = [{ name: "discovery", image: "example.com/pilot:1" }];
  const template = { metadata: { labels: { app: "istiod" } }, spec: { containers } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "istiod", namespace: "istio-system" },
    spec: { selector: { matchLabels: { app: "istiod" } }, template },
  };
}

/** The labels and webhooks of the configuration. */
async function configuration(cluster: Cluster) {
  const { metadata, webhooks } = JSON.parse(await kubectl(cluster, ["get", CONFIGURATION, "-o", "json"]));
  return { labels: metadata.labels, webhooks };
}

/** The objects of all kinds in `webhook manifests`. */
async function namesIn(cluster: Cluster): Promise<string[]> {
  const kinds = "serviceaccount,role,rolebinding,configmap,service,deployment,poddisruptionbudget,secret";
  const all = [["get", kinds, "-A"], ["get", "clusterrole,clusterrolebinding"]];
  const names = await Promise.all(all.map((args) => kubectl(cluster, [...args, "-o", "name"])));
  const own = /mesh|istio/;
  return names.join("").split("\n").filter((name) => own.test(name)).sort();
}

/** Runs a script in a folder, with the kubeconfig of this cluster. */
async function shell(cluster: Cluster, folder: string, script: string) {
  const command = new Deno.Command("sh", {
    args: ["-c", script],
    cwd: folder,
    env: { KUBECONFIG: cluster.kubeconfig },
    stdin: "null",
  });
  const { code, stderr } = await command.output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}
