/** The agent's own metrics: it can read /proc. */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { freePort } from "../../support/ports.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "no Linux";

/** Asks until the agent listens. */
async function textOf(url: string): Promise<string> {
  let text: string | undefined;
  const answered = async () => {
    text = await fetch(url).then((response) => response.text(), () => undefined);
    return text !== undefined;
  };
  await until(answered, `Nothing listens at ${url}`);
  return text ?? "";
}

testWhen(notLinux, "the agent's metrics have its memory, files and threads", async () => {
  const port = freePort();
  const env = { DISABLE_ENVOY: "true", INSTANCE_IP: "127.0.0.1", PROXY_CONFIG: `statusPort: ${port}` };
  const cwd = await Deno.makeTempDir({ prefix: "mesh-" });
  const agent = new Deno.Command(MESH_COMMAND, { args: ["agent"], cwd, env, stdout: "null", stderr: "null" }).spawn();
  try {
    const text = await textOf(`http://127.0.0.1:${port}/metrics`);
    for (const name of ["resident_memory_bytes", "cpu_seconds_total", "open_fds", "threads"]) {
      assert.match(text, new RegExp(`^istio_agent_process_${name} [\\d.e+]+$`, "m"));
    }
  } finally {
    agent.kill("SIGTERM");
  }
  assert.equal((await agent.status).code, 0);
  await Deno.remove(cwd, { recursive: true });
});
