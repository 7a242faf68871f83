import assert from "node:assert/strict";
import { MemoryApi, type Request } from "../../../test/support/kube/memory_api.ts";
import { startLog } from "../../core/log.ts";
import { fakeWorld } from "../../core/world/mod.ts";
import { isList, isMap, type Value } from "../../core/value.ts";
import { CONFIGURATIONS } from "./ca_bundle.ts";
import { selfManagedCertificates } from "./self_managed.ts";

const SECRET = "/api/v1/namespaces/mesh/secrets/certs";
const INJECTOR = `${CONFIGURATIONS}/injector`;
const SERVICE = { name: "webhook", namespace: "mesh" };
const CONFIGURATION = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name: "injector" },
  webhooks: [{ name: "a.example.com", clientConfig: { service: SERVICE } }],
};

/** A clock that only `pass` advances. */
class ManualClock {
  #now = Date.parse("2026-11-21T00:00:00Z");
  readonly #sleepers = new Set<{ readonly end: number; readonly wake: () => void }>();

  now(): Date {
    return new Date(this.#now);
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true || milliseconds <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const sleeper = { end: this.#now + milliseconds, wake: resolve };
    this.#sleepers.add(sleeper);
    signal?.addEventListener("abort", () => resolve());
    await promise;
    this.#sleepers.delete(sleeper);
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
    for (const { end, wake } of this.#sleepers) if (end <= this.#now) wake();
  }
}

function setUp(failing?: (request: Request) => Error | undefined) {
  const api = new MemoryApi();
  api.put(INJECTOR, CONFIGURATION);
  if (failing !== undefined) api.failing = failing;
  const world = fakeWorld();
  const clock = new ManualClock();
  const log = startLog(world, "webhook", { level: "debug" });
  const options = { api, clock, log, service: SERVICE, secret: "certs", configurations: ["injector"], jitter: 0 };
  const source = selfManagedCertificates(options);
  return { api, world, clock, source, [Symbol.dispose]: () => source.close() };
}

/** Advances the clock by seconds until a condition holds. */
async function until(clock: ManualClock, condition: () => boolean): Promise<void> {
  for (let round = 0; !condition(); round++) {
    assert(round < 5_000, `it did not come: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
    clock.pass(1_000);
  }
}

function caBundle(api: MemoryApi): Value | undefined {
  const webhooks = api.at(INJECTOR)?.["webhooks"];
  const [first] = isList(webhooks) ? webhooks : [];
  return isMap(first) && isMap(first["clientConfig"]) ? first["clientConfig"]["caBundle"] : undefined;
}

function entry(api: MemoryApi, key: string): Value | undefined {
  const data = api.at(SECRET)?.["data"];
  return isMap(data) ? data[key] : undefined;
}

Deno.test("a certificate is in the Secret, and the API server trusts its authority", async () => {
  using it = setUp();
  assert.throws(() => it.source.current(), { message: "There is no serving certificate yet" });
  await it.source.ready;
  const { certificate, key } = it.source.current();
  assert.deepEqual([btoa(certificate), btoa(key)], [entry(it.api, "tls.crt"), entry(it.api, "tls.key")]);
  assert.equal(caBundle(it.api), entry(it.api, "ca.crt"));
  assert.equal(it.source.problem(), undefined);
});

Deno.test("a certificate of another replica is served after its authority is in the caBundle", async () => {
  using it = setUp();
  await it.source.ready;
  const before = it.source.current();
  using other = setUp();
  await other.source.ready;
  const trusted: unknown[] = [];
  it.source.onChange(() => trusted.push(caBundle(it.api)));
  it.api.put(SECRET, other.api.at(SECRET) ?? {});
  await until(it.clock, () => it.source.current() !== before);
  assert.deepEqual(it.source.current(), other.source.current());
  assert.deepEqual(trusted, [entry(other.api, "ca.crt")]);
});

Deno.test("a certificate is renewed in time, without a gap", async () => {
  using it = setUp();
  await it.source.ready;
  const before = it.source.current();
  it.clock.pass(61 * 86_400_000);
  await until(it.clock, () => it.source.current() !== before);
  assert.equal(btoa(it.source.current().certificate), entry(it.api, "tls.crt"));
  assert.match(it.world.said.stderr, /two thirds of the lifetime of the serving certificate have passed/);
});

Deno.test("a changed caBundle and a replaced configuration are repaired", async () => {
  using it = setUp();
  await it.source.ready;
  it.api.put(INJECTOR, CONFIGURATION);
  await until(it.clock, () => caBundle(it.api) === entry(it.api, "ca.crt"));
  await it.api.remove(INJECTOR);
  await until(it.clock, () => it.source.problem() !== undefined);
  assert.match(it.source.problem() ?? "", /^MutatingWebhookConfiguration "injector" does not exist: the API server/);
  it.api.put(INJECTOR, CONFIGURATION);
  await until(it.clock, () => it.source.problem() === undefined);
  assert.equal(caBundle(it.api), entry(it.api, "ca.crt"));
});

Deno.test("a failed caBundle update stops no certificate, and is retried with backoff", async () => {
  using it = setUp((request) => request.startsWith("patch") ? new Error("forbidden") : undefined);
  await it.source.ready;
  await until(it.clock, () => it.source.problem() === "forbidden");
  const patches = () => it.api.requests.filter((request) => request.startsWith("patch")).length;
  const start = it.clock.now().getTime();
  await until(it.clock, () => it.clock.now().getTime() - start > 600_000);
  assert(patches() > 5 && patches() < 25, `${patches()} patches`);
  it.api.failing = () => undefined;
  await until(it.clock, () => it.source.problem() === undefined);
  assert.equal(it.world.said.stderr.match(/forbidden/g)?.length, 1);
});

Deno.test("another writer of the caBundle is reported, and repairs slow down", async () => {
  using it = setUp();
  await it.source.ready;
  const stop = new AbortController();
  const fight = (async () => {
    for await (const { object } of it.api.watch(CONFIGURATIONS, {}, stop.signal)) {
      const isOurs = JSON.stringify(object).includes("caBundle");
      if (isOurs) it.api.put(INJECTOR, CONFIGURATION);
    }
  })();
  await until(it.clock, () => it.source.problem() !== undefined);
  assert.match(it.source.problem() ?? "", /^Another program keeps changing the caBundle of "injector"; an istiod/);
  const patches = () => it.api.requests.filter((request) => request.startsWith("patch")).length;
  const [before, start] = [patches(), it.clock.now().getTime()];
  await until(it.clock, () => it.clock.now().getTime() - start > 600_000);
  assert(patches() - before < 25, `${patches()} patches`);
  stop.abort();
  await fight;
});

Deno.test("an unreachable cluster is retried, and no key is logged", async () => {
  let isDown = true;
  using it = setUp(() => isDown ? new Error("connection refused") : undefined);
  await until(it.clock, () => it.source.problem() === "connection refused");
  isDown = false;
  await until(it.clock, () => it.source.problem() === undefined);
  await it.source.ready;
  assert.match(it.world.said.stderr, /Managing the certificates again/);
  const { key } = it.source.current();
  for (
    const secret of [
      "PRIVATE KEY",
      key.split("\n")[1] ?? "",
      String(entry(it.api, "ca.key")),
      String(entry(it.api, "tls.key")),
    ]
  ) {
    assert(!it.world.said.stderr.includes(secret));
  }
});

Deno.test("close() stops all requests, and ready rejects", async () => {
  const it = setUp(() => new Error("connection refused"));
  await until(it.clock, () => it.source.problem() !== undefined);
  it.source.close();
  await assert.rejects(it.source.ready, { message: "The certificates are no longer managed" });
  const { length } = it.api.requests;
  for (let i = 0; i < 50; i++) {
    it.clock.pass(60_000);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  assert.equal(it.api.requests.length, length);
});
