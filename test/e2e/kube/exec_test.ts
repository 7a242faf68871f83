/** Commands in containers through a real API server: what they print, and why they do not run. */
import assert from "node:assert/strict";
import { connect, type ConnectOptions, type ExecRequest } from "../../../src/core/kube/client/mod.ts";
import { realWorld } from "../../../src/core/world/mod.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { needsCluster, type OwnCluster, startOwnCluster } from "../support/cluster/cluster.ts";
import { addRunningPod, startKubelet } from "../support/kubelet.ts";

const REQUEST: ExecRequest = {
  namespace: "default",
  pod: "web",
  container: "app",
  command: ["sh", "-c", "echo out; echo err >&2; exit 3"],
  timeout: 20_000,
  maxBytes: 8_000_000,
};

testWhen(needsCluster(), "commands run in containers through the API server", async (t) => {
  const cluster = await startOwnCluster();
  try {
    const node = await startKubelet(cluster);
    try {
      const PATH = { path: Deno.env.get("PATH") ?? "" };
      await node.runs({ "default/web/app": PATH, "default/web/slow": { ...PATH, delay: 60_000 } });
      const containers = ["app", "slow", "ended"].map((name) => ({ name, image: "app" }));
      await addRunningPod(cluster, {
        metadata: { name: "web" },
        spec: { nodeName: node.name, containers },
        status: { phase: "Running" },
      });
      await t.step("output, errors and exit code", () => runs(cluster, { kubeconfig: cluster.kubeconfig }));
      for (const [name, options] of Object.entries(await waysOf(cluster))) {
        await t.step(`as ${name}`, () => runs(cluster, options));
      }
      await t.step("a held command ends with the connection", () => held(cluster));
      await t.step("many bytes", () => many(cluster));
      await t.step("failures", () => failures(cluster));
      await t.step("an API server that is older", () => older(cluster));
    } finally {
      await node.stop();
    }
  } finally {
    await cluster.stop();
  }
});

/** Different connections; the kubeconfig of the cluster skips the verification. */
async function waysOf(cluster: OwnCluster): Promise<Record<string, ConnectOptions>> {
  const authority = `${cluster.kubeconfig}.ca`;
  await Deno.writeTextFile(authority, await cluster.authority());
  const { clusters: [{ cluster: { server } }] } = JSON.parse(await Deno.readTextFile(cluster.kubeconfig));
  const own = { server, token: "e2e-admin", certificateAuthority: authority };
  const rbac = ["create", "clusterrolebinding", "server", "--clusterrole=cluster-admin", "--user=server"];
  await cluster.kubectl(rbac);
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

async function held({ kubeconfig }: OwnCluster): Promise<void> {
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

async function withApi<T>(options: ConnectOptions, body: (api: Awaited<ReturnType<typeof connect>>) => Promise<T>) {
  const api = await connect(realWorld(), options);
  try {
    return await body(api);
  } finally {
    api.close();
  }
}

async function runs(_: OwnCluster, options: ConnectOptions): Promise<void> {
  await withApi(options, async (api) => {
    const results = await Promise.all([api.exec(REQUEST), api.exec({ ...REQUEST, command: ["echo", "a b"] })]);
    const [{ code, stdout, stderr }, second] = results;
    assert.deepEqual([code, new TextDecoder().decode(stdout), stderr], [3, "out\n", "err\n"]);
    assert.deepEqual([second.code, new TextDecoder().decode(second.stdout)], [0, "a b\n"]);
  });
}

async function many(cluster: OwnCluster): Promise<void> {
  await withApi({ kubeconfig: cluster.kubeconfig }, async (api) => {
    const command = ["sh", "-c", "yes 0123456 | head -c 6000000"];
    assert.equal((await api.exec({ ...REQUEST, command })).stdout.length, 6_000_000);
    await assert.rejects(api.exec({ ...REQUEST, command, maxBytes: 1_000_000 }), { failure: "too-long" });
  });
}

async function failures(cluster: OwnCluster): Promise<void> {
  const admin = { kubeconfig: cluster.kubeconfig };
  const cases: readonly [string, ConnectOptions, Partial<ExecRequest>, RegExp][] = [
    ["forbidden", { ...admin, as: "joe" }, {}, /User "joe" cannot (get|create) resource "pods\/exec"/],
    ["no-pod", admin, { pod: "gone" }, /pod "default\/gone" does not exist/],
    ["no-container", admin, { container: "none" }, /has no container "none"/],
    ["not-running", admin, { container: "ended" }, /container "ended" of pod "default\/web" is not running/],
    ["no-command", admin, { command: ["pilot-agent"] }, /has no program "pilot-agent"/],
    ["timeout", admin, { container: "slow", timeout: 500 }, /did not end within 500 ms/],
    ["unreachable", { server: "https://127.0.0.1:1" }, {}, /cannot be reached: connection refused/],
  ];
  for (const [failure, options, change, message] of cases) {
    await withApi(
      options,
      (api) => assert.rejects(api.exec({ ...REQUEST, ...change }), { name: "ExecError", failure, message }),
    );
  }
}

/** Without the translation the API server passes version 4 on to the kubelet. */
async function older(cluster: OwnCluster): Promise<void> {
  await cluster.restart(["--feature-gates=TranslateStreamCloseWebsocketRequests=false"]);
  await runs(cluster, { kubeconfig: cluster.kubeconfig });
}
