/**
 * Pods of an Istio release with this program: the release's configuration, its istiod, and its agent beside this one.
 * By default the release is the checkout's; `tools/deno task test versions FOLDER istiod` runs others, and counts the
 * steps.
 */
import assert from "node:assert/strict";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { PILOT_AGENT } from "./support/agents.ts";
import { Load } from "./support/load.ts";
import { missing, type PodPair, RealMesh } from "./support/mesh.ts";
import { denial, NAMESPACE, spiffe } from "./support/objects.ts";
import { RELEASE } from "./support/release.ts";

/** Requests that show that nothing fails. */
const REQUESTS = 50;
/** How long istiod is gone, in milliseconds. */
const GONE = 1000;

type Check = (mesh: RealMesh, pair: PodPair) => Promise<void>;

const CHECKS: Readonly<Record<string, Check>> = {
  "injection: the proxy's image and arguments come from the release's template": isInjected,
  "start: both pods become ready": starts,
  "certificates: both proxies have their identity, by istiod's authority": hasIdentities,
  "xDS: the proxies accept what istiod sends": acceptsAll,
  "DNS: a service has an address by its short and by its long name": hasNames,
  "mutual TLS: requests arrive with the caller's identity": (_, pair) => answered(pair),
  "mutual TLS: plain text is refused": refusesPlainText,
  "authorization: a rule denies a path, and its end allows it": isDenied,
  "certificates: new ones come under load, and no request fails": (_, pair) => loaded(pair, (load) => load.rotated()),
  "istiod: killed and started again, no request fails": survivesIstiod,
  ...RELEASE === undefined ? {} : {
    "skew: a pod of the release's configuration runs the release's agent": (mesh, pair) => meets(mesh, pair, "old"),
    "skew: a pod of today's configuration runs today's agent": (mesh, pair) => modern(mesh, () => meets(mesh, pair)),
    "skew: a pod of today's configuration runs the release's agent": (mesh, pair) =>
      modern(mesh, () => meets(mesh, pair, "mixed")),
  },
  "drain: SIGTERM waits for a request in flight, and the agent ends with 0": drains,
};

testWhen(needsCluster() ?? missing, `release: pods with istiod ${RELEASE?.release ?? "of the checkout"}`, async (t) => {
  await using mesh = await RealMesh.create({ ttl: "20s" });
  await using pair = await mesh.pair({ name: "web" });
  for (const [name, check] of Object.entries(CHECKS)) {
    const isGood = await t.step(name, () => check(mesh, pair));
    // Later checks would wait for pods that never start.
    if (!isGood && check === starts) break;
  }
});

function isInjected(_: RealMesh, { a }: PodPair): Promise<void> {
  const { containers = [], initContainers = [] } = a.options.pod.spec ?? {};
  const proxy = [...containers, ...initContainers].find(({ name }) => name === "istio-proxy");
  assert.deepEqual(proxy?.args?.slice(0, 2), ["proxy", "sidecar"]);
  if (RELEASE !== undefined) assert.equal(proxy?.image, `docker.io/istio/proxyv2:${RELEASE.release}`);
  return Promise.resolve();
}

async function starts(_: RealMesh, { a, b }: PodPair): Promise<void> {
  await Promise.all([a.startReady(), b.startReady()]);
}

/** Source: Envoy's admin interface, `/certs`. */
async function hasIdentities(_: RealMesh, { a, b }: PodPair): Promise<void> {
  for (const [pod, uri] of [[a, spiffe("a")], [b, spiffe("b")]] as const) {
    const { text } = await pod.application.ask("http://127.0.0.1:15000/certs");
    const own = JSON.parse(text).certificates.flatMap((each: { cert_chain?: object[] }) => each.cert_chain ?? []);
    assert.ok(JSON.stringify(own).includes(`{"uri":"${uri}"}`), text);
  }
}

/** Source: istiod's debug interface, `/debug/syncz`: for each type the sent and the accepted nonce. */
async function acceptsAll(mesh: RealMesh, { a, b }: PodPair): Promise<void> {
  const { prober } = mesh.parts;
  let said = "";
  await until(async () => {
    said = (await prober.ask("http://127.0.0.1:18080/debug/syncz")).text;
    const rows: Record<string, string>[] = JSON.parse(said);
    // An agent may have another row, for its own connection, which receives names.
    return [a, b].every(({ name }) => rows.some((row) => row["proxy"] === `${name}.${NAMESPACE}` && isAccepted(row)));
  }, () => `The proxies do not accept all: ${said}`);
}

/** Whether istiod sent each type and the proxy accepted it. */
function isAccepted(row: Readonly<Record<string, string>>): boolean {
  return ["cluster", "listener", "route", "endpoint"].every((type) =>
    row[`${type}_sent`] && row[`${type}_sent`] === row[`${type}_acked`]
  );
}

async function hasNames(_: RealMesh, { a }: PodPair): Promise<void> {
  for (const host of ["web", `web.${NAMESPACE}`, `web.${NAMESPACE}.svc.cluster.local`]) {
    const { status, text } = await a.application.ask(`http://${host}:8080/`);
    assert.equal(status, 200, `${host}: ${text}`);
  }
}

async function refusesPlainText(mesh: RealMesh, { b }: PodPair): Promise<void> {
  const { status, text } = await mesh.parts.prober.ask(`http://${b.address}:8080/headers`);
  assert.equal(status, 0, `Plain text got an answer: ${text}`);
}

async function isDenied({ parts: { api } }: RealMesh, { a }: PodPair): Promise<void> {
  const { path, body } = denial("web", "/healthz");
  const answers = (wanted: number) =>
    until(async () => (await a.application.ask("http://web:8080/healthz")).status === wanted, `Never: ${wanted}`);
  await answers(200);
  await api.create(path, body);
  await answers(403);
  assert.equal((await a.application.ask("http://web:8080/")).status, 200);
  await api.remove(`${path}/web`);
  await answers(200);
}

async function survivesIstiod({ istiod }: RealMesh, pair: PodPair): Promise<void> {
  await loaded(pair, async (load) => {
    await istiod.kill();
    await new Promise((resolve) => setTimeout(resolve, GONE));
    await istiod.start();
    await load.rotated();
  });
}

/** Requests from `pair.a` to a new pair's service, and between the new pods. `image`: the agent of the new pods. */
async function meets(mesh: RealMesh, { a }: PodPair, image?: "old" | "mixed"): Promise<void> {
  const name = image ?? "today";
  await using pair = await mesh.readyPair({ name }, image === undefined ? undefined : PILOT_AGENT);
  await answered(pair);
  await answered({ ...pair, a });
}

/** Runs `body`, whose pods get the built-in configuration of this program. */
async function modern(mesh: RealMesh, body: () => Promise<void>): Promise<void> {
  await mesh.configure("values.yaml", BUILT_IN.values);
  await mesh.configure("config.yaml", BUILT_IN.config);
  try {
    await body();
  } finally {
    await mesh.configure("values.yaml", RELEASE?.values ?? "");
    if (RELEASE !== undefined) await mesh.configure("config.yaml", RELEASE.config);
  }
}

/** A request is in flight when the proxy of `b` gets SIGTERM. */
async function drains(_: RealMesh, { a, b }: PodPair): Promise<void> {
  const reply = a.application.ask("http://web:8080/wait");
  await b.application.holds(1);
  b.proxy.signal("SIGTERM");
  await new Promise((resolve) => setTimeout(resolve, GONE));
  await b.application.release();
  assert.equal((await reply).status, 200);
  const { code, stderr } = await b.proxy.end;
  assert.equal(code, 0, stderr);
}

async function answered(pair: PodPair): Promise<void> {
  await loaded(pair, (load) => load.answered(REQUESTS));
}

/** Runs `body` under a load whose requests must all arrive with the identity of `a`. */
async function loaded(pair: PodPair, body: (load: Load) => Promise<void>): Promise<void> {
  await using load = new Load(pair);
  await body(load);
  const { failures } = await load.stop();
  assert.deepEqual(failures.slice(0, 5), []);
}
