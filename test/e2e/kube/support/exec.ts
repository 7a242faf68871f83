/** Commands in the containers of a pod, whose kubelet is a stand-in. */
import assert from "node:assert/strict";
import { connect, type ConnectOptions, type ExecRequest } from "../../../../src/kube/client/mod.ts";
import { realWorld } from "../../../../src/platform/mod.ts";
import type { Cluster } from "../../support/cluster/cluster.ts";
import { addRunningPod, type KubeletNode, startKubelet } from "../../support/kubelet.ts";

/** A command with output, errors and an exit code. */
export const REQUEST: ExecRequest = {
  namespace: "default",
  pod: "web",
  container: "app",
  command: ["sh", "-c", "echo out; echo err >&2; exit 3"],
  timeout: 20_000,
  maxBytes: 8_000_000,
};

/** Adds a pod with the running containers `app` and `slow`, and `ended`. */
export async function startPod(cluster: Cluster): Promise<KubeletNode> {
  const node = await startKubelet(cluster);
  const PATH = { path: Deno.env.get("PATH") ?? "" };
  await node.runs({ "default/web/app": PATH, "default/web/slow": { ...PATH, delay: 60_000 } });
  const containers = ["app", "slow", "ended"].map((name) => ({ name, image: "app" }));
  await addRunningPod(cluster, {
    metadata: { name: "web" },
    spec: { nodeName: node.name, containers },
    status: { phase: "Running" },
  });
  return node;
}

/** A connection that is closed after its use. */
export async function withApi<T>(
  options: ConnectOptions,
  body: (api: Awaited<ReturnType<typeof connect>>) => Promise<T>,
) {
  const api = await connect(realWorld(), options);
  try {
    return await body(api);
  } finally {
    api.close();
  }
}

/** Runs two commands at the same time, and checks their output, errors and exit codes. */
export async function runs(options: ConnectOptions): Promise<void> {
  await withApi(options, async (api) => {
    const results = await Promise.all([api.exec(REQUEST), api.exec({ ...REQUEST, command: ["echo", "a b"] })]);
    const [{ code, stdout, stderr }, second] = results;
    assert.deepEqual([code, new TextDecoder().decode(stdout), stderr], [3, "out\n", "err\n"]);
    assert.deepEqual([second.code, new TextDecoder().decode(second.stdout)], [0, "a b\n"]);
  });
}
