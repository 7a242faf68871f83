/** Restarts of Envoy under one agent, and agents that find leftovers. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import type { Program } from "../agent/support/program.ts";
import { until } from "../../support/until.ts";
import { startMeshLoad } from "./support/load.ts";
import { Mesh } from "./support/mesh.ts";
import { missing } from "./support/pod.ts";
import { spiffe } from "./support/resources.ts";

/** The Envoys of an agent, as seen from the outside. */
async function envoysOf(agent: Program): Promise<number[]> {
  const found: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    const stat = /^\d+$/.test(name) ? await Deno.readTextFile(`/proc/${name}/stat`).catch(() => "") : "";
    const [, program, parent] = /^\d+ \((.*)\) \S (\d+) /.exec(stat) ?? [];
    if (program?.startsWith("envoy") && Number(parent) === agent.pid()) found.push(Number(name));
  }
  return found;
}

testWhen(missing, "mesh: the agent and Envoy restart over leftovers of a killed Envoy", async (t) => {
  await using mesh = await Mesh.create();
  const { a: killed } = await mesh.startBoth();
  assert.equal((await mesh.ask()).status, 200);

  await t.step("the agent exits with Envoy's code", async () => {
    for (const pid of await envoysOf(killed)) Deno.kill(pid, "SIGKILL");
    assert.equal((await killed.end).code, 137, killed.text);
  });
  await t.step("a new agent with a new token replaces leftover sockets", async () => {
    for (const name of ["var/run/secrets/workload-spiffe-uds/socket", "etc/istio/proxy/XDS"]) await leave(mesh, name);
    await mesh.plane.accept({ "second-token": spiffe("a"), "token-of-b": spiffe("b") });
    await mesh.a.writeToken("second-token");
    await mesh.a.startReady();
    assert.equal((await mesh.ask()).status, 200);
  });
});

/** A stale socket, as a killed process leaves it. */
async function leave(mesh: Mesh, name: string): Promise<void> {
  const path = `${mesh.a.folder}/${name}`;
  await Deno.remove(path).catch(() => {});
  const listener = Deno.listen({ transport: "unix", path: `${path}.made` });
  await Deno.rename(`${path}.made`, path);
  listener.close();
  assert.ok((await Deno.lstat(path)).isSocket);
}

testWhen(missing, "mesh: hot restarts reconnect to the agent; no request fails", async () => {
  await using mesh = await Mesh.create();
  const env = {
    PROXY_CONFIG: JSON.stringify({ ...JSON.parse(mesh.a.env()["PROXY_CONFIG"] ?? "{}"), drainDuration: "1s" }),
  };
  await mesh.b.capture();
  await mesh.b.application();
  await mesh.b.startReady();
  await mesh.a.capture();
  // Envoy's shared memory is named after the base ID: tests of other users may use another one.
  const agent = await mesh.a.startReady(["agent", "--watch", "--base-id", "198"], { env });
  await using load = startMeshLoad(mesh);
  agent.signal("SIGHUP");
  await agent.until("Envoy (epoch 1) is live");
  await until(() => load.answered() > 20);
  await until(async () =>
    (await mesh.a.stats("^server\\.hot_restart_generation$")).get("server.hot_restart_generation") === 2
  );
  const seen = load.answered();
  await until(() => load.answered() > seen + 20);
  assert.deepEqual(await load.stop(), []);
  // The agent keeps its certificate: it sent no new request to the CA.
  assert.equal((await mesh.plane.seen()).ca.length, 2);
});
