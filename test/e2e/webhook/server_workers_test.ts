/** Reviews with worker processes. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { configurationOf, review, reviewOf, WebhookServer } from "./support/server.ts";

/** Between two reviews of a connection: without it two clients take a processor. */
const PAUSE = 10;

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";

/** The children of a process. */
async function childrenOf(pid: number): Promise<number[]> {
  const tasks = [];
  for await (const { name } of Deno.readDir(`/proc/${pid}/task`)) tasks.push(name);
  const texts = await Promise.all(
    tasks.map((task) => Deno.readTextFile(`/proc/${pid}/task/${task}/children`).catch(() => "")),
  );
  return texts.flatMap((text) => text.split(" ").filter(Boolean).map(Number));
}

async function workers(server: WebhookServer, count: number): Promise<void> {
  const line = new RegExp(`^mesh_webhook_workers ${count}$`, "m");
  await until(async () => line.test(await server.told("/metrics")), () => `never ${count} workers:\n${server.log}`);
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

for (const protocol of ["1.1", "2"] as const) {
  testWhen(notLinux, `HTTP/${protocol}: killed workers and a new configuration lose no review`, async () => {
    await using server = await WebhookServer.start("--workers=2");
    await workers(server, 2);
    const stop = new AbortController();
    const patches: string[] = [];
    const load = Array.from({ length: 6 }, async (_, client) => {
      using kept = server.client();
      for (let index = 0; !stop.signal.aborted; index++) {
        const name = `${client}-${index}`;
        const { status, text, patch } = await review(server, kept, reviewOf(name));
        assert.deepEqual([status, text.includes(`"uid":"uid-${name}","allowed":true`)], [200, true], text);
        patches.push(patch);
        await delay(PAUSE);
      }
    });
    const more = async () => {
      const seen = patches.length;
      await until(() => patches.length > seen + 50, () => "no more reviews");
    };
    await more();
    for (const pid of await childrenOf(server.pid)) {
      Deno.kill(pid, "SIGKILL");
      await more();
      await workers(server, 2);
    }
    assert.ok(patches.every((patch) => patch.includes("one")));
    await server.configuration.put({ config: configurationOf("two") });
    await server.said(/The new configuration is in force/);
    const before = patches.length;
    await more();
    assert.ok(patches.slice(before + 6).every((patch) => patch.includes("two")));
    stop.abort();
    await Promise.all(load);
    const metrics = await server.told("/metrics");
    assert.match(metrics, /^mesh_webhook_worker_restarts_total 2$/m);
    assert.match(metrics, new RegExp(`^sidecar_injection_success_total ${patches.length}$`, "m"));
    assert.match(server.log, /error webhook: Worker process \d+ ended with SIGKILL: starting another one\n/);
  });
}

testWhen(notLinux, "workers answer 200 reviews at once, large ones, and wrong requests", async () => {
  await using server = await WebhookServer.start("--workers=2");
  await workers(server, 2);
  using client = server.client();
  const names = Array.from({ length: 200 }, (_, index) => `web-${index}`);
  const many = names.map(async (name) => {
    const { text, patch } = await review(server, client, reviewOf(name));
    assert.ok(text.includes(`"uid":"uid-${name}","allowed":true`) && patch.includes("config"), text);
  });
  const large = Array.from({ length: 6 }, async (_, index) => {
    // Bodies that are read at a time share 24 MiB.
    const pad = "x".repeat(2 * 1024 * 1024);
    const { text } = await review(server, client, reviewOf(`large-${index}`, { pad }));
    assert.match(text, new RegExp(`"uid":"uid-large-${index}","allowed":true`));
  });
  const wrong = ["{", "[".repeat(100_000), "\xff", '{"kind":"AdmissionReview"}'].map(async (body) => {
    assert.match((await review(server, client, body)).text, /"allowed":false/);
  });
  await Promise.all([...many, ...large, ...wrong]);
  assert.match(await server.told("/metrics"), /^mesh_webhook_worker_restarts_total 0$/m);
});

testWhen(notLinux, "a slow review fails and its worker is killed; the next review is answered", async () => {
  await using server = await WebhookServer.start("--workers=1");
  await workers(server, 1);
  const [pid = 0] = await childrenOf(server.pid);
  Deno.kill(pid, "SIGSTOP");
  using client = server.client();
  const lost = review(server, client, reviewOf("lost"));
  const { text } = await lost;
  assert.match(text, /"uid":"uid-lost","allowed":false,.*internal error of the injector/);
  assert.match((await review(server, client, reviewOf("next"))).text, /"allowed":true/);
  await workers(server, 1);
});

for (const [how, signal] of [["ends", "SIGTERM"], ["is killed", "SIGKILL"]] as const) {
  testWhen(notLinux, `no worker is left when the webhook ${how}`, async () => {
    await using server = await WebhookServer.start("--workers=2", "--shutdown-delay=0s");
    await workers(server, 2);
    const pids = await childrenOf(server.pid);
    assert.equal(pids.length, 2);
    server.signal(signal);
    assert.equal(await server.code, signal === "SIGTERM" ? 0 : 137);
    await until(() => !pids.some(isAlive), () => `of ${pids} some are alive`);
  });
}

testWhen(notLinux, "without workers there is one process", async () => {
  await using server = await WebhookServer.start("--workers=0");
  assert.deepEqual(await childrenOf(server.pid), []);
  assert.match(await server.told("/metrics"), /^mesh_webhook_workers 0$/m);
});
