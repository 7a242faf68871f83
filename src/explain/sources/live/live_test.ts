import assert from "node:assert/strict";
import { ExecError, type ExecRequest, type Pod } from "../../../kube/client/mod.ts";
import { snapshotLive } from "./live.ts";
import { WHOLE_QUESTIONS } from "./questions.ts";

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "shop" },
  spec: { containers: [{ name: "app" }, { name: "istio-proxy" }] },
};
const CLOCK = { now: () => new Date("2026-01-02T03:04:05Z") };

type Answer = { code: number; stdout?: string; stderr?: string };

function sourceOf(answer: (command: string) => Answer, asked: ExecRequest[] = []) {
  let running = 0;
  const exec = async (request: ExecRequest) => {
    asked.push(request);
    assert.ok(++running <= 3, "more than three commands at once");
    await Promise.resolve();
    running--;
    const { code, stdout = "", stderr = "" } = answer(request.command.join(" "));
    return { code, stdout: new TextEncoder().encode(stdout), stderr };
  };
  return { api: { exec }, clock: CLOCK, container: "istio-proxy", timeout: undefined };
}

Deno.test("snapshotLive() keeps what each command prints, and says why a part is absent", async () => {
  const source = sourceOf((command) => {
    if (command.startsWith("cat")) return { code: 127 };
    if (command.endsWith("?verbose")) {
      return { code: 1, stderr: "error: Received unsuccessful status code 503: no body\n" };
    }
    if (command.endsWith("debug/ndsz")) return { code: 1, stderr: "Error: connection refused\n" };
    return { code: 0, stdout: `of ${command}` };
  });
  const { pod, parts, time } = await snapshotLive(source, POD, WHOLE_QUESTIONS);
  assert.deepEqual([pod, time], [{ namespace: "shop", name: "web" }, CLOCK.now()]);
  assert.equal(parts["config_dump.json"].text, "of pilot-agent request GET config_dump?include_eds");
  assert.equal(parts["sockets.txt"].absent, "unsupported");
  assert.equal(parts["name_table.json"].absent, "no-answer");
  assert.match(parts["agent_ready.txt"].text ?? "", /^503: /);
  assert.equal(parts["rules.iptables"].absent, "not-permitted");
  assert.equal(JSON.parse(parts["pod.json"].text ?? "").metadata.name, "web");
});

Deno.test("snapshotLive() gives up after a failure that all commands share", async () => {
  const asked: ExecRequest[] = [];
  const source = sourceOf(() => {
    throw new ExecError("forbidden", "not allowed", { hint: "grant it" });
  }, asked);
  const { parts } = await snapshotLive(source, POD, WHOLE_QUESTIONS);
  assert.equal(asked.length, 3);
  assert.deepEqual(parts["sockets.txt"], { absent: "forbidden", message: "not allowed; grant it" });
  assert.ok(parts["pod.json"].text);
});

Deno.test("snapshotLive() runs nothing in a pod without a proxy", async () => {
  const asked: ExecRequest[] = [];
  const pod: Pod = { ...POD, spec: { containers: [{ name: "app" }] } };
  const { parts } = await snapshotLive(sourceOf(() => ({ code: 0 }), asked), pod, WHOLE_QUESTIONS);
  assert.equal(asked.length, 0);
  assert.equal(parts["server_info.json"].absent, "not-running");
});
