/** The webhook before it can answer reviews. */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";

/** A kubeconfig of a dead API server: nothing listens on port 1. */
const AWAY = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "away", cluster: { server: "https://127.0.0.1:1" } }],
  users: [{ name: "nobody", user: { token: "none" } }],
  contexts: [{ name: "away", context: { cluster: "away", user: "nobody" } }],
  "current-context": "away",
});

for (const [signal, expected] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
  testWhen(
    notLinux,
    `without an API server it is alive and not ready, and ${signal} ends it`,
    async () => {
      const kubeconfig = await Deno.makeTempFile();
      await Deno.writeTextFile(kubeconfig, AWAY);
      const child = new Deno.Command(MESH_COMMAND, {
        args: [
          "webhook",
          "serve",
          "--self-managed-certs",
          "--listen=127.0.0.1:0",
          "--plain-listen=127.0.0.1:0",
          "--log-level=debug",
        ],
        env: { NO_COLOR: "1", MESH_LOG_FORMAT: "text", KUBECONFIG: kubeconfig },
        stdin: "null",
        stdout: "null",
        stderr: "piped",
      }).spawn();
      let log = "";
      const read = (async () => {
        for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) log += text;
      })();
      const port = () => /probes and metrics on port (\d+)/.exec(log)?.[1];
      await until(() => port() !== undefined, () => `It tells no port:\n${log}`);
      const answer = async (path: string) => {
        const response = await fetch(`http://127.0.0.1:${port()}${path}`);
        return [response.status, await response.text()] as const;
      };
      assert.deepEqual(await answer("/healthz"), [200, "ok\n"]);
      assert.deepEqual(await answer("/ready?verbose"), [
        503,
        "[-]running failed: the webhook waits for its configuration and its certificate\nnot ready\n",
      ]);
      const [status, metrics] = await answer("/metrics");
      assert.ok(status === 200 && metrics.includes("mesh_webhook_build_info{"), metrics);
      child.kill(signal);
      const { code } = await child.status;
      await read;
      assert.equal(code, expected, log);
      assert.doesNotMatch(log, /Reviews are answered/);
      await Deno.remove(kubeconfig);
    },
  );
}
