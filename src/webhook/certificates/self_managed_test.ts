import assert from "node:assert/strict";
import { MemoryApi, type Request } from "../../../test/support/kube/memory_api.ts";
import { startLog } from "../../platform/log.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { isList, isMap, type Value } from "../../base/value.ts";
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

/** The Secret in the manifests. */
const EMPTY = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "certs", namespace: "mesh", labels: { "app.kubernetes.io/managed-by": "kubectl-mesh" } },
  type: "Opaque",
};

const WRITER = [{ manager: "istiod", operation: "Update", time: "2026-11-21T00:00:00Z" }];

/** A clock that only `pass` advances. */
class ManualClock {
  #now = Date.parse("2026-11-21T00:00:00Z");
  #monotonic = 0;
  readonly #sleepers = new Set<{ readonly end: number; readonly wake: () => void }>();

  now(): Date {
    return new Date(this.#now);
  }

  monotonic(): number {
    return this.#monotonic;
  }

  /** Sets the wall clock, but not the monotonic clock. */
  set(now: string): void {
    this.#now = Date.parse(now);
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true || milliseconds <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const sleeper = { end: this.#monotonic + milliseconds, wake: resolve };
    this.#sleepers.add(sleeper);
    signal?.addEventListener("abort", () => resolve());
    await promise;
    this.#sleepers.delete(sleeper);
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
    this.#monotonic += milliseconds;
    for (const { end, wake } of this.#sleepers) if (end <= this.#monotonic) wake();
  }
}

/** Like `setUp`, with an API server whose clock stays correct if `clock.set` is called. */
function withServerClock() {
  const start = Date.parse("2026-11-21T00:00:00Z");
  return setUp(undefined, (clock) => new Date(start + clock.monotonic()));
}

function setUp(failing?: (request: Request) => Error | undefined, serverTime?: (clock: ManualClock) => Date) {
  const api = new MemoryApi();
  api.put(INJECTOR, CONFIGURATION);
  api.put(SECRET, EMPTY);
  if (failing !== undefined) api.failing = failing;
  const world = fakeWorld();
  const clock = new ManualClock();
  const log = startLog(world, "webhook", { level: "debug" });
  const now = serverTime === undefined ? {} : { now: () => Promise.resolve(serverTime(clock)) };
  const options = {
    api,
    clock,
    log,
    service: SERVICE,
    secret: "certs",
    configurations: ["injector"],
    jitter: 0,
    ...now,
  };
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
  assert.throws(() => it.source.current(), { message: "The serving certificate is not available yet" });
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
  assert.match(it.world.said.stderr, /the serving certificate has passed two thirds of its lifetime/);
});

Deno.test("a changed caBundle and a replaced configuration are repaired", async () => {
  using it = setUp();
  await it.source.ready;
  it.api.put(INJECTOR, CONFIGURATION);
  await until(it.clock, () => caBundle(it.api) === entry(it.api, "ca.crt"));
  await it.api.remove(INJECTOR);
  await until(it.clock, () => it.source.problem() !== undefined);
  assert.match(it.source.problem() ?? "", /^MutatingWebhookConfiguration "injector" does not exist, so the API server/);
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
      if (isOurs) it.api.put(INJECTOR, { ...CONFIGURATION, metadata: { name: "injector", managedFields: WRITER } });
    }
  })();
  await until(it.clock, () => it.source.problem() !== undefined);
  assert.match(
    it.source.problem() ?? "",
    /^Another program keeps changing the caBundle of "injector"; the last writer was "istiod"; if the other program is an istiod/,
  );
  const patches = () => it.api.requests.filter((request) => request.startsWith("patch")).length;
  const [before, start] = [patches(), it.clock.now().getTime()];
  await until(it.clock, () => it.clock.now().getTime() - start > 600_000);
  assert(patches() - before < 25, `${patches()} patches`);
  stop.abort();
  await fight;
});

/** How another controller changes the Secret after each write of the webhook. */
const FIGHTS: Readonly<Record<string, { readonly data?: Record<string, string>; readonly pause: number }>> = {
  "that empties it at once": { pause: 0 },
  "that empties it every five seconds": { pause: 5_000 },
  "that puts a certificate of its own into it": {
    data: { "tls.crt": btoa("other"), "tls.key": btoa("other") },
    pause: 0,
  },
};

for (const [title, { data = {}, pause }] of Object.entries(FIGHTS)) {
  Deno.test(`a controller ${title} is reported, the served key stays, and writes slow down`, async () => {
    using it = setUp();
    await it.source.ready;
    const served = it.source.current();
    const bundle = caBundle(it.api);
    const stop = new AbortController();
    const fight = (async () => {
      for await (const { object } of it.api.watch(SECRET.replace(/.certs$/, ""), {}, stop.signal)) {
        if (!("data" in object) || JSON.stringify(object["data"]) === JSON.stringify(data)) continue;
        await it.clock.sleep(pause, stop.signal);
        it.api.put(SECRET, { ...EMPTY, metadata: { ...EMPTY.metadata, managedFields: WRITER }, data });
      }
    })();
    await until(it.clock, () => /keeps changing Secret/.test(it.source.problem() ?? ""));
    assert.match(
      it.source.problem() ?? "",
      /^Another program keeps changing Secret "mesh\/certs"; the last writer was "istiod";/,
    );
    const writes = () => it.api.requests.filter((request) => request.startsWith("replace")).length;
    const [before, start] = [writes(), it.clock.monotonic()];
    await until(it.clock, () => it.clock.monotonic() - start > 600_000);
    assert(writes() - before < 75, `${writes() - before} writes in ten minutes`);
    assert.deepEqual([it.source.current(), caBundle(it.api)], [served, bundle]);
    assert.equal(it.world.said.stderr.match(/WARN.*keeps changing|warn.*keeps changing/g)?.length, 1);
    stop.abort();
    it.api.put("/api/v1/namespaces/mesh/secrets/other", { ...EMPTY, metadata: { name: "other", namespace: "mesh" } });
    await fight;
    await until(it.clock, () => it.source.problem() === undefined);
    assert.equal(entry(it.api, "tls.key"), btoa(served.key));
  });
}

Deno.test("a Secret that was made anew gets new keys", async () => {
  using it = setUp();
  await it.source.ready;
  const before = it.source.current();
  await it.api.remove(SECRET);
  await until(it.clock, () => /Secret "mesh\/certs" does not exist/.test(it.source.problem() ?? ""));
  assert.equal(it.source.current(), before);
  it.api.put(SECRET, { ...EMPTY, metadata: { ...EMPTY.metadata, uid: "2" } });
  await until(it.clock, () => it.source.problem() === undefined);
  assert.notEqual(it.source.current().key, before.key);
  assert.equal(caBundle(it.api), entry(it.api, "ca.crt"));
});

Deno.test("a clock that is set forth and back changes no certificate: the API server's counts", async () => {
  using it = withServerClock();
  await it.source.ready;
  const before = it.source.current();
  for (const now of ["2036-11-21T00:00:00Z", "1970-01-01T00:00:00Z", "2026-11-21T00:00:00Z"]) {
    it.clock.set(now);
    const start = it.clock.monotonic();
    await until(it.clock, () => it.clock.monotonic() - start > 600_000);
  }
  assert.equal(it.source.current(), before);
  assert.equal(it.source.problem(), undefined);
});

Deno.test("certificates that a wrong clock made are replaced when it is set right", async () => {
  using it = setUp();
  it.clock.set("2036-11-21T00:00:00Z");
  await it.source.ready;
  const before = it.source.current();
  it.clock.set("2026-11-21T00:00:00Z");
  await until(it.clock, () => it.source.current() !== before);
  assert.match(it.world.said.stderr, /the CA has expired, or was issued while the clock was wrong/);
  assert.equal(caBundle(it.api), entry(it.api, "ca.crt"));
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
