import assert from "node:assert/strict";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { meshWebhooks } from "../../../../test/support/kube/mesh_webhooks.ts";
import { object } from "../../../../test/support/kube/cluster.ts";
import { BUILT_IN, type InjectionSnapshot, snapshotText } from "../../../inject/mod.ts";
import { main } from "../../mod.ts";

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec: {containers: [{name: app, image: app}]}
`;
const JOB = `apiVersion: batch/v1
kind: Job
metadata: {name: load, namespace: shop}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: app, image: app}]}
`;

/** A snapshot of a cluster with one revision, whose namespace "shop" is injected. */
function snapshot(options: Partial<InjectionSnapshot> = {}): string {
  return snapshotText({
    controlPlane: { istioNamespace: "istio-system" },
    objects: [
      object("v1", "ConfigMap", "istio-system/kubectl-mesh-webhook", {
        data: { config: BUILT_IN.config, values: BUILT_IN.values, mesh: BUILT_IN.mesh },
      }),
      ...meshWebhooks(),
      object("v1", "Namespace", "shop", { metadata: { labels: { "istio-injection": "enabled" } } }),
    ],
    kubeletVersions: ["v1.34.0"],
    unreadable: [],
    withheld: [],
    ...options,
  });
}

interface Case {
  readonly flag?: string;
  readonly variable?: string;
  readonly kubelet?: string;
}

function worldOf(args: readonly string[], { flag, variable, kubelet = "v1.34.0" }: Case) {
  return fakeWorld({
    args: [...args, "--inject-config", "cluster.yaml", ...flag === undefined ? [] : [`--native-sidecars=${flag}`]],
    env: variable === undefined ? {} : { ENABLE_NATIVE_SIDECARS: variable },
    files: { "web.yaml": WEB, "job.yaml": JOB, "cluster.yaml": snapshot({ kubeletVersions: [kubelet] }) },
  });
}

/** Whether `inject --as-webhook` gives a native sidecar to a Deployment, and to a Job. */
async function isNative(given: Case): Promise<readonly boolean[]> {
  const native: boolean[] = [];
  for (const file of ["web.yaml", "job.yaml"]) {
    const world = worldOf(["inject", "-f", file, "--as-webhook"], given);
    assert.equal(await main(world), 0, world.said.stderr);
    assert.match(world.said.stdout, /istio-proxy/);
    native.push(world.said.stdout.includes("restartPolicy: Always"));
  }
  return native;
}

const OLD = "v1.30.0";

const CASES: readonly (readonly [Case, web: boolean, job: boolean])[] = [
  [{}, true, true],
  [{ kubelet: OLD }, false, false],
  [{ flag: "false" }, false, false],
  [{ flag: "false", variable: "true" }, false, false],
  [{ flag: "jobs" }, false, true],
  [{ flag: "jobs", variable: "true" }, false, true],
  [{ flag: "jobs", kubelet: OLD }, false, true],
  [{ flag: "true", kubelet: OLD }, true, true],
  [{ flag: "auto", variable: "false" }, true, true],
  [{ variable: "false" }, false, false],
  [{ variable: "true", kubelet: OLD }, true, true],
];

for (const [given, web, job] of CASES) {
  Deno.test(`inject --as-webhook, native sidecars: ${JSON.stringify(given)}`, async () => {
    assert.deepEqual(await isNative(given), [web, job]);
  });
}

Deno.test("inject --as-webhook reports an invalid ENABLE_NATIVE_SIDECARS", async () => {
  const world = worldOf(["inject", "-f", "web.yaml", "--as-webhook"], { variable: "maybe" });
  assert.equal(await main(world), 0);
  assert.match(world.said.stderr, /note: ENABLE_NATIVE_SIDECARS is "maybe", but must be/);
});
