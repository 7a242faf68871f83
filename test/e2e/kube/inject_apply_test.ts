import assert from "node:assert/strict";
import { runMesh } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { addServiceAccount } from "../support/cluster/requests.ts";

const EXAMPLES = ["examples/helloworld.yaml", "examples/bookinfo.yaml"];

/** A pod that meets the restricted Pod Security level. */
const RESTRICTED_POD = `apiVersion: v1
kind: Pod
metadata:
  name: careful
spec:
  containers:
  - name: app
    image: example.com/app:1
    securityContext:
      allowPrivilegeEscalation: false
      runAsNonRoot: true
      runAsUser: 10001
      capabilities:
        drop: [ALL]
      seccompProfile:
        type: RuntimeDefault
`;

testWhen(needsCluster(), "inject writes what a kube-apiserver accepts", async (t) => {
  const cluster = await startCluster();
  try {
    for (
      const flags of [[], ["--cni"], ["--native-sidecars"], ["--native-sidecars", "--cni", "--revision", "canary"]]
    ) {
      await t.step(`built-in configuration ${flags.join(" ")}`, () => appliesCleanly(cluster, flags));
    }
    await t.step("with --cni the pod passes the restricted Pod Security level", () => passesRestricted(cluster));
  } finally {
    await cluster.stop();
  }
});

async function appliesCleanly(cluster: Cluster, flags: readonly string[]) {
  const injected = await runMesh(["inject", ...EXAMPLES.flatMap((file) => ["-f", file]), ...flags]);
  assert.equal(injected.code, 0, injected.stderr);
  assert.equal(injected.stdout.match(/name: "?istio-proxy"?$/gm)?.length, 8);
  const applied = await cluster.kubectl(["apply", "--dry-run=server", "--validate=strict", "-f", "-"], injected.stdout);
  assert.equal(applied.code, 0, applied.stderr);
  assert.equal(applied.stdout.trim().split("\n").length, 11);
}

async function passesRestricted(cluster: Cluster) {
  await cluster.kubectl(["create", "namespace", "strict"]);
  await addServiceAccount(cluster, "strict");
  await cluster.kubectl(["label", "namespace", "strict", "pod-security.kubernetes.io/enforce=restricted"]);
  const injected = await runMesh(["inject", "-f", "-", "--cni", "--native-sidecars"], { stdin: RESTRICTED_POD });
  const applied = await cluster.kubectl(["apply", "--dry-run=server", "-n", "strict", "-f", "-"], injected.stdout);
  assert.equal(applied.code, 0, applied.stderr);
  const privileged = await runMesh(["inject", "-f", "-"], { stdin: RESTRICTED_POD });
  const refused = await cluster.kubectl(["apply", "--dry-run=server", "-n", "strict", "-f", "-"], privileged.stdout);
  assert.match(refused.stderr, /forbidden.*violates PodSecurity "restricted/);
}
