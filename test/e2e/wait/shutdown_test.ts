/** `wait --shutdown -- COMMAND`: a Job in a pod whose proxy does not end by itself. */
import assert from "node:assert/strict";
import { runMesh } from "../../support/programs/mesh.ts";
import { startMesh } from "./support/child.ts";
import { freePort } from "../../support/ports.ts";
import { type StandIn, standIn } from "./support/server.ts";

/** The arguments before the command. One stand-in serves both ports. */
function argvBefore({ url }: StandIn, ...flags: string[]): string[] {
  return [
    "wait",
    "--url",
    `${url}/ready`,
    "--shutdown",
    "--quit-url",
    `${url}/quitquitquit`,
    ...flags,
    "--",
    "sh",
    "-c",
  ];
}

const QUIT = ["GET /ready", "POST /quitquitquit"];

Deno.test("the proxy is asked to quit once after the command; wait exits with the command's code", async () => {
  for (const [line, code] of [["exit 0", 0], ["exit 42", 42], ["kill -9 $$", 137], ["kill -15 $$", 143]] as const) {
    await using proxy = standIn(() => 200);
    const ended = await runMesh([...argvBefore(proxy), `echo done; ${line}`], { stdin: "" });
    assert.deepEqual(ended, { code, stdout: "done\n", stderr: "" });
    assert.deepEqual(proxy.requests, QUIT);
  }
});

Deno.test("signals are forwarded, and the proxy is asked to quit when the command has ended", async () => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"] as const) {
    await using proxy = standIn(() => 200);
    const line = `trap "echo got ${signal}; exit 6" ${signal.slice(3)}; echo up; while :; do sleep 0.05; done`;
    const running = startMesh([...argvBefore(proxy), line]);
    await running.says("up\n");
    assert.deepEqual(proxy.requests, ["GET /ready"]);
    running.kill(signal);
    const { code, stdout } = await running.end();
    assert.deepEqual([code, stdout, proxy.requests], [6, `up\ngot ${signal}\n`, QUIT]);
  }
});

Deno.test("with --quit-on success a failed command keeps its proxy", async () => {
  await using proxy = standIn(() => 200);
  const failed = await runMesh([...argvBefore(proxy, "--quit-on", "success"), "exit 1"]);
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /info wait: The proxy keeps running: the command exited with code 1\n$/);
  assert.deepEqual(proxy.requests, ["GET /ready"]);
});

Deno.test("a missing proxy is a warning, and wait exits with the command's code", async () => {
  await using proxy = standIn(() => 200);
  const args = ["wait", "--url", proxy.url, "--shutdown", "--quit-url", `http://127.0.0.1:${freePort()}/`, "--"];
  const { code, stderr } = await runMesh([...args, "sh", "-c", "exit 8"]);
  assert.equal(code, 8);
  assert.match(stderr, /warning wait: Cannot stop the proxy, .*: connection refused\n$/);
});

Deno.test("after a timeout no command runs and no proxy is asked to quit", async () => {
  await using proxy = standIn((path) => path === "/ready" ? 503 : 200);
  const { code, stdout } = await runMesh([...argvBefore(proxy, "--timeout", "100ms"), "echo it ran"]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.ok(proxy.requests.every((request) => request === "GET /ready"));
});

Deno.test("agent quit and agent drain ask the agent, and report errors", async () => {
  for (const [command, path] of [["quit", "/quitquitquit"], ["drain", "/drain"]] as const) {
    await using agent = standIn((each) => each === path ? 200 : 404);
    const port = new URL(agent.url).port;
    assert.deepEqual(await runMesh(["agent", command, "--status-port", port]), { code: 0, stdout: "", stderr: "" });
    assert.deepEqual(agent.requests, [`POST ${path}`]);
    const alone = await runMesh(["agent", command, "--status-port", `${freePort()}`]);
    assert.equal(alone.code, 1);
    assert.match(
      alone.stderr,
      /^error: Cannot send "POST .*" to the agent: connection refused; check that an agent is running/,
    );
  }
});
