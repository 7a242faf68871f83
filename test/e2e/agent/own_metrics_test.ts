/** The whole agent knows of itself what the kernel tells: nothing keeps it from reading /proc. */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { freePort } from "../../support/ports.ts";
import { testWhen } from "../../support/test_when.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "no Linux";

/** Asks until somebody listens; a test that waits in vain is ended by the deadline. */
async function textOf(url: string): Promise<string> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    try {
      return await (await fetch(url)).text();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

testWhen(notLinux, "the agent's metrics tell its memory, files and threads", async () => {
  const port = freePort();
  const env = { DISABLE_ENVOY: "true", INSTANCE_IP: "127.0.0.1", PROXY_CONFIG: `statusPort: ${port}` };
  const agent = new Deno.Command(MESH_COMMAND, { args: ["agent"], env, stdout: "null", stderr: "null" }).spawn();
  try {
    const text = await textOf(`http://127.0.0.1:${port}/metrics`);
    for (const name of ["resident_memory_bytes", "cpu_seconds_total", "open_fds", "threads"]) {
      assert.match(text, new RegExp(`^istio_agent_process_${name} [\\d.e+]+$`, "m"));
    }
  } finally {
    agent.kill("SIGTERM");
  }
  assert.equal((await agent.status).code, 0);
});
