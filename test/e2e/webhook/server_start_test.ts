/** The webhook before it can answer reviews. */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { testCertificate } from "../../support/tls/certificates.ts";
import { until } from "../../support/until.ts";
import { configurationOf, MountedFolder, secretOf } from "./support/server.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";

/** A kubeconfig of an API server. */
function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "nobody", user: { token: "none" } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "nobody" } }],
    "current-context": "c",
  });
}

/** A webhook that has just started. */
async function start(server: string, ...flags: readonly string[]) {
  const kubeconfig = await Deno.makeTempFile();
  await Deno.writeTextFile(kubeconfig, kubeconfigOf(server));
  const child = new Deno.Command(MESH_COMMAND, {
    args: ["webhook", "serve", "--listen=127.0.0.1:0", "--plain-listen=127.0.0.1:0", "--log-level=debug", ...flags],
    env: { NO_COLOR: "1", MESH_LOG_FORMAT: "text", KUBECONFIG: kubeconfig },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let log = "";
  const read = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) log += text;
  })();
  const said = (pattern: RegExp) => until(() => pattern.test(log), () => `It never said ${pattern}:\n${log}`);
  await said(/probes and metrics on port \d+/);
  const port = /probes and metrics on port (\d+)/.exec(log)?.[1];
  return {
    said,
    log: () => log,
    async answer(path: string) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return [response.status, await response.text()] as const;
    },
    /** The exit code. */
    async end(signal: "SIGTERM" | "SIGINT") {
      child.kill(signal);
      const { code } = await child.status;
      await read;
      await Deno.remove(kubeconfig);
      return code;
    },
  };
}

const WAITS = "[-]running failed: the webhook is waiting for its configuration and certificate: ";

for (const [signal, expected] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
  testWhen(notLinux, `without an API server the webhook is live and not ready, and ${signal} ends it`, async () => {
    // Nothing listens on port 1.
    const webhook = await start("https://127.0.0.1:1", "--self-managed-certs");
    assert.deepEqual(await webhook.answer("/healthz"), [200, "ok\n"]);
    await until(async () => (await webhook.answer("/ready"))[1].includes("connection refused"), webhook.log);
    const [status, text] = await webhook.answer("/ready");
    assert.ok(status === 503 && text.startsWith(WAITS) && text.endsWith("not ready\n"), text);
    const [code, metrics] = await webhook.answer("/metrics");
    assert.ok(code === 200 && metrics.includes("mesh_webhook_build_info{"), metrics);
    assert.equal(await webhook.end(signal), expected, webhook.log());
    assert.doesNotMatch(webhook.log(), /Serving reviews/);
  });
}

testWhen(notLinux, "--from-cluster waits for an API server that starts later, and for its rights", async () => {
  // The port of a server that is not there yet.
  using reserved = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = reserved.addr;
  reserved.close();
  const certificate = testCertificate();
  const folder = await MountedFolder.make(secretOf(certificate));
  const files = [`--tls-cert=${folder.path}/tls.crt`, `--tls-key=${folder.path}/tls.key`];
  const webhook = await start(`http://127.0.0.1:${port}`, "--from-cluster", ...files);
  const ready = async () => (await webhook.answer("/ready"))[1];
  await webhook.said(/trying again: .*connection refused/);
  assert.match(await ready(), /^\[-\]running failed: .*: The Kubernetes API server .* connection refused/);

  let isAllowed = false;
  await using _server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, ({ url }) => {
    const { pathname, searchParams } = new URL(url);
    if (!isAllowed) return Response.json({ kind: "Status", message: "configmaps is forbidden" }, { status: 403 });
    if (searchParams.has("watch")) return new Response(new ReadableStream());
    const map = MAPS[pathname];
    return Response.json(map ?? { metadata: { resourceVersion: "1" }, items: [] });
  });
  await webhook.said(/trying again: .*configmaps is forbidden/);
  assert.match(await ready(), /configmaps is forbidden; an administrator can grant the permission/);
  isAllowed = true;
  await webhook.said(/Serving reviews/);
  assert.equal(await ready(), "ready\n");
  assert.equal(await webhook.end("SIGTERM"), 0, webhook.log());
  await folder[Symbol.asyncDispose]();
});

const mapOf = (name: string, data: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "istio-system", resourceVersion: "1" },
  data,
});
const FOLDER = "/api/v1/namespaces/istio-system/configmaps";
const MAPS: Readonly<Record<string, object>> = {
  [`${FOLDER}/istio`]: mapOf("istio", { mesh: "{}" }),
  [`${FOLDER}/istio-sidecar-injector`]: mapOf("istio-sidecar-injector", {
    config: configurationOf("one"),
    values: "{}",
  }),
};
