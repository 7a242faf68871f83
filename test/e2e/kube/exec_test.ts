/** Commands in containers through a real API server: what they print, and why they do not run. */
import assert from "node:assert/strict";
import type { ConnectOptions, ExecRequest } from "../../../src/kube/client/mod.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { created } from "../support/cluster/requests.ts";
import { REQUEST, runs, startPod, withApi } from "./support/exec.ts";

testWhen(needsCluster(), "commands run in containers through the API server", async (t) => {
  const cluster = await startCluster();
  try {
    const node = await startPod(cluster);
    try {
      await t.step("output, errors and exit code", () => runs({ kubeconfig: cluster.kubeconfig }));
      for (const [name, options] of Object.entries(await connectionsOf(cluster))) {
        await t.step(`as ${name}`, () => runs(options));
      }
      await t.step("a held command ends with the connection", () => held(cluster));
      await t.step("many bytes", () => many(cluster));
      await t.step("failures", () => failures(cluster));
    } finally {
      await node.stop();
    }
  } finally {
    await cluster.stop();
  }
});

/** Different connections; the kubeconfig of the cluster skips the verification. */
async function connectionsOf(cluster: Cluster): Promise<Record<string, ConnectOptions>> {
  const authority = `${cluster.kubeconfig}.ca`;
  await Deno.writeTextFile(authority, await cluster.authority());
  const { clusters: [{ cluster: { server } }] } = JSON.parse(await Deno.readTextFile(cluster.kubeconfig));
  const own = { server, token: "e2e-admin", certificateAuthority: authority };
  await created(cluster, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "server" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "User", name: "server" }],
  });
  const { certificate, key } = cluster.client;
  const withCertificate = `${cluster.kubeconfig}.certificate`;
  await Deno.writeTextFile(
    withCertificate,
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server, "certificate-authority": authority } }],
      users: [{ name: "u", user: { "client-certificate-data": btoa(certificate), "client-key-data": btoa(key) } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  return {
    "a token of a verified server": own,
    "another name of the server": { ...own, tlsServerName: "kubernetes.default.svc" },
    "a client certificate": { kubeconfig: withCertificate },
    "a client certificate, without verification": { kubeconfig: withCertificate, insecureSkipTlsVerify: true },
    "somebody else": { ...own, as: "joe", asGroup: ["system:masters"] },
  };
}

async function held({ kubeconfig }: Cluster): Promise<void> {
  const [started, ended] = [`${kubeconfig}.started`, `${kubeconfig}.ended`];
  const command = ["sh", "-c", `echo >${started}; cat; echo >${ended}`];
  const isThere = (path: string) => () => Deno.stat(path).then(() => true, () => false);
  await withApi({ kubeconfig }, async (api) => {
    assert.equal(await api.hold({ ...REQUEST, command }), true);
    await until(isThere(started), () => "the command did not start");
    assert.equal(await isThere(ended)(), false);
    assert.equal(await api.hold({ ...REQUEST, pod: "none", command }), false);
  });
  await until(isThere(ended), () => "the command did not end");
}

async function many(cluster: Cluster): Promise<void> {
  await withApi({ kubeconfig: cluster.kubeconfig }, async (api) => {
    const command = ["sh", "-c", "yes 0123456 | head -c 6000000"];
    assert.equal((await api.exec({ ...REQUEST, command })).stdout.length, 6_000_000);
    await assert.rejects(api.exec({ ...REQUEST, command, maxBytes: 1_000_000 }), { failure: "too-long" });
  });
}

async function failures(cluster: Cluster): Promise<void> {
  const admin = { kubeconfig: cluster.kubeconfig };
  const cases: readonly [string, ConnectOptions, Partial<ExecRequest>, RegExp][] = [
    ["forbidden", { ...admin, as: "joe" }, {}, /User "joe" cannot (get|create) resource "pods\/exec"/],
    ["no-pod", admin, { pod: "gone" }, /pod "default\/gone" does not exist/],
    ["no-container", admin, { container: "none" }, /has no container "none"/],
    ["not-running", admin, { container: "ended" }, /container "ended" of pod "default\/web" is not running/],
    ["no-command", admin, { command: ["pilot-agent"] }, /has no program "pilot-agent"/],
    ["timeout", admin, { container: "slow", timeout: 500 }, /did not exit within 500 ms/],
    ["unreachable", { server: "https://127.0.0.1:1" }, {}, /cannot be reached: connection refused/],
  ];
  for (const [failure, options, change, message] of cases) {
    await withApi(
      options,
      (api) => assert.rejects(api.exec({ ...REQUEST, ...change }), { name: "ExecError", failure, message }),
    );
  }
}
