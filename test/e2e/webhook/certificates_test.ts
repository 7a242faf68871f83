import assert from "node:assert/strict";
import { connect, type KubeConnection } from "../../../src/kube/client/mod.ts";
import { startLog } from "../../../src/platform/log.ts";
import { realWorld } from "../../../src/platform/mod.ts";
import { fakeWorld } from "../../support/fake_world.ts";
import { selfManagedCertificates, type SelfManagedOptions } from "../../../src/webhook/certificates/self_managed.ts";
import { webhookManifests } from "../../../src/webhook/manifests/mod.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { createNamespace, got, removed } from "../support/cluster/requests.ts";
import { mapAt, mapsAt, textAt } from "../../../src/base/value.ts";
import { until } from "../../support/until.ts";
import { kubectl } from "../support/webhook.ts";

const NAME = "kubectl-mesh-webhook";
const SECRET = `${NAME}-certificates`;
const SECRET_OBJECT = { apiVersion: "v1", kind: "Secret", metadata: { name: SECRET, namespace: "mesh" } };
const CONFIGURATION = "istio-sidecar-injector";
const LONG = { serving: 3_600_000, authority: 36_000_000, overlap: 1_000 };
const SHORT = { serving: 12_000, authority: 30_000, overlap: 4_000 };

type Source = ReturnType<typeof selfManagedCertificates>;

testWhen(
  needsCluster(),
  "replicas manage their certificates in a real cluster, with the rights of their manifests",
  async (t) => {
    const cluster = await startCluster();
    try {
      const kubeconfig = await install(cluster);
      await t.step(
        "replicas that start together serve the same certificate, and the API server trusts it",
        async () => {
          await withReplicas(kubeconfig, { lifetimes: LONG }, (sources) => agrees(cluster, sources));
        },
      );
      await t.step("a removed caBundle and a deleted Secret are restored", async () => {
        await withReplicas(kubeconfig, { lifetimes: LONG }, (sources) => comesBack(cluster, sources));
      });
      await t.step(
        "certificates and authorities are renewed, and the API server always trusts what is served",
        async () => {
          await removed(cluster, SECRET_OBJECT);
          await applyManifests(cluster);
          await withReplicas(kubeconfig, { lifetimes: SHORT }, (sources) => renews(cluster, sources));
        },
      );
    } finally {
      await cluster.stop();
    }
  },
);

/** Applies the manifests; returns the path of a kubeconfig of their ServiceAccount. */
async function install(cluster: Cluster): Promise<string> {
  await createNamespace(cluster, "mesh");
  await applyManifests(cluster);
  const token = (await kubectl(cluster, ["create", "token", NAME, "-n", "mesh"])).trim();
  const config = JSON.parse(await Deno.readTextFile(cluster.kubeconfig));
  const path = `${cluster.kubeconfig}-webhook`;
  await Deno.writeTextFile(path, JSON.stringify({ ...config, users: [{ name: "admin", user: { token } }] }));
  return path;
}

async function applyManifests(cluster: Cluster): Promise<void> {
  await kubectl(cluster, ["apply", "-f", "-"], webhookManifests({ image: "example.com/mesh:1", namespace: "mesh" }));
}

async function withReplicas(
  kubeconfig: string,
  options: Pick<SelfManagedOptions, "lifetimes">,
  run: (sources: readonly Source[]) => Promise<void>,
): Promise<void> {
  const world = realWorld();
  const said = fakeWorld();
  const connections: KubeConnection[] = [];
  const sources: Source[] = [];
  try {
    for (let i = 0; i < 3; i++) connections.push(await connect(world, { kubeconfig }));
    for (const api of connections) {
      const log = startLog(said, "webhook");
      const service = { name: NAME, namespace: "mesh" };
      const { clock } = world;
      sources.push(
        selfManagedCertificates({
          api,
          clock,
          log,
          service,
          secret: SECRET,
          configurations: [CONFIGURATION],
          ...options,
        }),
      );
    }
    await Promise.all(sources.map((source) => source.ready));
    await run(sources);
    assert.doesNotMatch(said.said.stderr, /PRIVATE KEY|forbidden/);
  } finally {
    for (const each of [...sources, ...connections]) each.close();
  }
}

async function data(cluster: Cluster): Promise<Record<string, string>> {
  const held = mapAt(await got(cluster, `/api/v1/namespaces/mesh/secrets/${SECRET}`), "data");
  return Object.fromEntries(Object.entries(held).map(([name, value]) => [name, String(value)]));
}

/** The different bundles of the configuration's webhooks. */
async function bundles(cluster: Cluster): Promise<string[]> {
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${CONFIGURATION}`;
  const all = mapsAt(await got(cluster, path), "webhooks").map((each) =>
    textAt(mapAt(each, "clientConfig"), "caBundle")
  );
  return [...new Set(all)];
}

/** All replicas serve what is in the Secret, and the configuration trusts it. */
async function isSettled(cluster: Cluster, sources: readonly Source[]): Promise<boolean> {
  const held = await data(cluster).catch(() => undefined);
  if (held === undefined) return false;
  const served = new Set(sources.map((source) => btoa(source.current().certificate)));
  const [bundle, ...others] = await bundles(cluster);
  return served.size === 1 && served.has(held["tls.crt"] ?? "") && bundle === held["ca.crt"] && others.length === 0;
}

async function agrees(cluster: Cluster, sources: readonly Source[]): Promise<void> {
  await until(() => isSettled(cluster, sources), "Never: they agree");
  assert.deepEqual(sources.map((source) => source.problem()), [undefined, undefined, undefined]);
}

async function comesBack(cluster: Cluster, sources: readonly Source[]): Promise<void> {
  const before = await data(cluster);
  const remove = [0, 1].map((index) => ({ op: "remove", path: `/webhooks/${index}/clientConfig/caBundle` }));
  await kubectl(cluster, [
    "patch",
    "mutatingwebhookconfiguration",
    CONFIGURATION,
    "--type=json",
    "-p",
    JSON.stringify(remove),
  ]);
  await until(() => isSettled(cluster, sources), "Never: the bundle comes back");
  assert.deepEqual(await data(cluster), before);
  await removed(cluster, SECRET_OBJECT);
  await until(() => sources.every((source) => /does not exist/.test(source.problem() ?? "")), "Never: it is missed");
  await applyManifests(cluster);
  await until(() => isSettled(cluster, sources), "Never: the Secret is filled again");
  assert.notEqual((await data(cluster))["ca.key"], before["ca.key"]);
}

async function renews(cluster: Cluster, sources: readonly Source[]): Promise<void> {
  const [certificates, authorities] = [new Set<string>(), new Set<string>()];
  await until(async () => {
    certificates.add(sources[0]?.current().certificate ?? "");
    authorities.add((await data(cluster))["ca.key"] ?? "");
    await trusts(cluster, sources);
    return certificates.size >= 3 && authorities.size >= 2;
  }, "Never: three certificates and two authorities");
}

/** The served certificate verifies with the caBundle read right after. */
async function trusts(cluster: Cluster, sources: readonly Source[]): Promise<void> {
  const served = new Map(sources.map((source) => source.current()).map((each) => [each.certificate, each]));
  const [bundle = ""] = await bundles(cluster);
  for (const { certificate, key } of served.values()) {
    using listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: certificate, key });
    const accepted = listener.accept().then(async (connection) => {
      await connection.handshake().catch(() => {});
      connection.close();
    });
    const tcp = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
    const client = await Deno.startTls(tcp, { hostname: `${NAME}.mesh.svc`, caCerts: [atob(bundle)] });
    await client.handshake();
    client.close();
    await accepted;
  }
}
