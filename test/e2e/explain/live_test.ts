/**
 * A running pod, read through a real API server and a kubelet that runs the commands in the pod's network namespace, where a
 * real Envoy and the kernel's rules are. `MESH_PILOT_AGENT=FILE` runs Istio's own pilot-agent in place of this program.
 */
import assert from "node:assert/strict";
import { GLANCE } from "../../../src/explain/glance/glance_schema.ts";
import { realEnvoy } from "../../support/programs/envoy.ts";
import { MESH_COMMAND, runMesh } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { type Namespace, needsNamespaces, Pair } from "../iptables/support/pod.ts";
import { addServiceAccount, type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { addRunningPod, type KubeletNode, type RunningContainer, startKubelet } from "../support/kubelet.ts";

const envoy = await realEnvoy();
const missing = envoy.missing ?? needsCluster() ?? needsNamespaces("iptables-save");

const NODE_ID = "sidecar~10.1.0.9~web.shop~shop.svc.cluster.local";

/** Envoy with the admin interface at its usual place. */
const BOOTSTRAP = {
  node: { id: NODE_ID, cluster: "web.shop", metadata: { ISTIO_VERSION: "1.29.1" } },
  admin: { address: { socket_address: { address: "127.0.0.1", port_value: 15000 } } },
  static_resources: {
    clusters: [{ name: "outbound|80||a.shop.svc.cluster.local", type: "STATIC", connect_timeout: "1s" }],
    listeners: [{
      name: "virtualOutbound",
      address: { socket_address: { address: "0.0.0.0", port_value: 15001 } },
      filter_chains: [{
        filters: [{
          name: "envoy.filters.network.tcp_proxy",
          typed_config: {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
            stat_prefix: "a",
            cluster: "outbound|80||a.shop.svc.cluster.local",
          },
        }],
      }],
    }],
  },
};

interface Scene {
  readonly cluster: Cluster;
  readonly node: KubeletNode;
  readonly folder: string;
  /** What the kubelet runs. */
  readonly containers: Readonly<Record<string, RunningContainer>>;
}

testWhen(missing, "a running pod is read through the API server", async (t) => {
  await using folder = await temporaryFolder();
  await using pair = await Pair.create([4]);
  const namespace = pair.pod;
  const process = await startEnvoy(namespace, folder.path);
  try {
    const applied = await namespace.mesh(["iptables", "apply", ...CAPTURE_ARGS]);
    assert.equal(applied.code, 0, applied.stderr);
    const cluster = await startCluster();
    try {
      const node = await startKubelet(cluster);
      try {
        const at = await scene({ cluster, node, folder: folder.path }, namespace);
        await t.step("at a glance: Envoy, sockets and rules as they are", () => glance(at));
        await t.step("without NET_ADMIN the rules are planned", () => planned(at));
        await t.step("a capture gives the same answer, without the cluster and without secrets", () => saved(at));
        await t.step("an ephemeral container reads the rules", () => ephemeral(at));
        await t.step("a workload, a service and labels find the pod", () => choices(at));
        await t.step("a line for each pod", () => short(at));
        await t.step("who may not exec is told so, and sees what the API server has", () => forbidden(at));
        await t.step("gone, not running, not injected, no such container", () => broken(at));
        await t.step("an Envoy that does not answer", async () => {
          process.kill("SIGKILL");
          await process.status;
          await silent(at);
        });
      } finally {
        await node.stop();
      }
    } finally {
      await cluster.stop();
    }
  } finally {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await process.status;
  }
});

async function startEnvoy(namespace: Namespace, folder: string): Promise<Deno.ChildProcess> {
  await Deno.writeTextFile(`${folder}/envoy.json`, JSON.stringify(BOOTSTRAP));
  const args = [
    `--net=${namespace.path}`,
    envoy.path,
    "-c",
    `${folder}/envoy.json`,
    "--disable-hot-restart",
    "-l",
    "error",
  ];
  const process = new Deno.Command("nsenter", { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  const ask = ["-sf", "http://127.0.0.1:15000/ready"];
  await until(async () => (await namespace.run("curl", ask)).code === 0, () => "Envoy did not become ready");
  return process;
}

const CAPTURE_ARGS = [
  "-p",
  "15001",
  "-z",
  "15006",
  "-u",
  "1337",
  "-m",
  "REDIRECT",
  "-i",
  "*",
  "-b",
  "*",
  "-d",
  "15090",
];
const IMAGE = "registry.example/proxyv2:1.29.1";
const RUNNING = { running: { startedAt: "2026-01-02T03:04:05Z" } };

/** Pods, their owners, and the containers that the kubelet runs. */
async function scene({ cluster, node, folder }: Omit<Scene, "containers">, namespace: Namespace): Promise<Scene> {
  const programs = `${folder}/bin`;
  await Deno.mkdir(programs);
  const agent = Deno.env.get("MESH_PILOT_AGENT");
  const command = agent === undefined ? `"${MESH_COMMAND}" pilot-agent` : `"${agent}"`;
  await Deno.writeTextFile(`${programs}/pilot-agent`, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  await kubectl(cluster, ["create", "namespace", "shop"]);
  await addServiceAccount(cluster, "shop");
  const own = { command: ["nsenter", `--net=${namespace.path}`], path: `${programs}:${Deno.env.get("PATH")}` };
  const names = ["web", "admin"].map((name) => [`shop/${name}/istio-proxy`, own] as const);
  const containers = Object.fromEntries(names);
  await node.runs(containers);
  for (const name of ["web", "admin", "ended"]) await addPod({ cluster, node }, name);
  await addPod({ cluster, node }, "plain", ["web"]);
  const selector = { matchLabels: { app: "web" } };
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web" }] } };
  await create(cluster, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: { selector, template },
  });
  await create(cluster, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
  });
  return { cluster, node, folder, containers };
}

async function addPod(
  { cluster, node }: Pick<Scene, "cluster" | "node">,
  name: string,
  names = ["web", "istio-proxy"],
): Promise<void> {
  const args = ["istio-iptables", ...CAPTURE_ARGS];
  const containers = names.map((each) => ({
    name: each,
    image: each === "istio-proxy" ? IMAGE : "web",
    env: [{ name: "PASSWORD", value: "hunter2" }],
    ports: [{ containerPort: each === "istio-proxy" ? 15090 : 8080 }],
    ...name === "admin" ? { securityContext: { capabilities: { add: ["NET_ADMIN"] } } } : {},
  }));
  const ready = name === "ended" ? "False" : "True";
  await addRunningPod(cluster, {
    metadata: { name, namespace: "shop", labels: { app: name, mesh: "yes" } },
    spec: { nodeName: node.name, containers, initContainers: [{ name: "istio-init", image: IMAGE, args }] },
    status: {
      phase: "Running",
      podIP: "10.1.0.9",
      podIPs: [{ ip: "10.1.0.9" }],
      conditions: [{ type: "Ready", status: ready }],
      containerStatuses: names.map((each) => ({
        name: each,
        image: IMAGE,
        imageID: "",
        ready: true,
        restartCount: 0,
        state: name === "ended" && each === "istio-proxy" ? { terminated: { exitCode: 255 } } : RUNNING,
      })),
    },
  });
}

async function kubectl(cluster: Cluster, args: readonly string[], stdin?: string): Promise<void> {
  const { code, stderr } = await cluster.kubectl(args, stdin);
  assert.equal(code, 0, stderr);
}

async function create(cluster: Cluster, object: object): Promise<void> {
  await kubectl(cluster, ["create", "-n", "shop", "-f", "-"], JSON.stringify(object));
}

function explain({ cluster }: Scene, ...args: string[]) {
  return runMesh(args, { env: { KUBECONFIG: cluster.kubeconfig } });
}

async function glanceOf(scene: Scene, ...args: string[]) {
  const { stdout, stderr } = await explain(scene, "explain", ...args, "-o", "json");
  assert.ok(stdout.startsWith("{"), stderr);
  return GLANCE.parse(JSON.parse(stdout));
}

async function glance(scene: Scene): Promise<void> {
  const { pod, traffic, configuration, findings } = await glanceOf(scene, "pod/admin", "-n", "shop");
  assert.equal(pod, "shop/admin");
  assert.deepEqual([configuration.state, configuration.istio, configuration.envoy], ["LIVE", "1.29.1", "1.40.0"]);
  assert.deepEqual([traffic.source, traffic.mode], ["seen", "REDIRECT"]);
  const listening = traffic.ports.filter(({ listens }) => listens === "yes").map(({ port }) => port);
  assert.ok(listening.includes(15001), JSON.stringify(traffic.ports));
  assert.equal(traffic.ports.find(({ port }) => port === 15000)?.listens, "loopback");
  assert.deepEqual(findings.map(({ id }) => id), ["configuration", "port"]);
}

async function planned(scene: Scene): Promise<void> {
  const { traffic } = await glanceOf(scene, "web", "-n", "shop");
  assert.equal(traffic.source, "planned");
  assert.match(traffic.message, /lacks NET_ADMIN/);
}

async function saved(scene: Scene): Promise<void> {
  const path = `${scene.folder}/web.tar.gz`;
  const { code, stderr } = await explain(scene, "capture", "pod/web", "-n", "shop", "-o", path);
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    /^".*web\.tar\.gz" has \d+ files of pod\/web in the namespace "shop", \d+ KiB; \d+ values were redacted\n/,
  );
  assert.match(stderr, /without rules\.iptables: the container "istio-proxy" lacks NET_ADMIN/);
  assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  const listing = await new Deno.Command("tar", { args: ["-xzOf", path] }).output();
  const text = new TextDecoder().decode(listing.stdout);
  assert.ok(text.includes(NODE_ID) && text.includes("[redacted]"));
  assert.equal(text.includes("hunter2"), false);
  const again = await runMesh(["explain", "-f", path, "-o", "json"]);
  const live = await glanceOf(scene, "web", "-n", "shop");
  const { configuration, time: _, ...other } = GLANCE.parse(JSON.parse(again.stdout));
  const { configuration: own, time: _now, ...now } = live;
  const same = (texts: string) => texts.replaceAll(/runs for [\dhms ]+|\b\d+d \d+h\b/g, "runs");
  assert.equal(same(JSON.stringify(other)), same(JSON.stringify(now)));
  assert.equal(configuration.envoy, own.envoy);
}

/** The kubelet starts what was added to the pod. */
async function ephemeral(scene: Scene): Promise<void> {
  const { cluster, node } = scene;
  const get = ["get", "pod", "web", "-n", "shop", "-o", "jsonpath={.spec.ephemeralContainers[0].name}"];
  const running = explain(scene, "explain", "pod/web", "-n", "shop", "--ephemeral", "-o", "json");
  let name = "";
  const added = async () => (name = (await cluster.kubectl(get)).stdout) !== "";
  await until(added, () => "no ephemeral container was added");
  await node.runs({ ...scene.containers, [`shop/web/${name}`]: scene.containers["shop/web/istio-proxy"] ?? {} });
  const own = { name, image: IMAGE, imageID: "", ready: false, restartCount: 0, state: RUNNING };
  const patch = JSON.stringify({ status: { ephemeralContainerStatuses: [own] } });
  await kubectl(cluster, ["patch", "pod", "web", "-n", "shop", "--subresource=status", "-p", patch]);
  const { stdout, stderr } = await running;
  const { traffic, containers } = GLANCE.parse(JSON.parse(stdout));
  assert.deepEqual([traffic.source, traffic.mode], ["seen", "REDIRECT"]);
  assert.equal(containers.length, 3);
  assert.match(
    stderr,
    /^Adding the ephemeral container "kubectl-mesh-rules-1" to pod "shop\/web": image ".*", user 0, NET_ADMIN/,
  );
  const joe = await explain(
    scene,
    "explain",
    "pod/web",
    "-n",
    "shop",
    "--ephemeral",
    "-o",
    "json",
    "--as",
    "joe",
    "--as-group",
    "system:authenticated",
  );
  assert.match(joe.stderr, /^error: The Kubernetes API server does not allow it/);
}

async function choices(scene: Scene): Promise<void> {
  for (const name of ["deployment/web", "svc/web"]) {
    const { stdout, stderr } = await explain(scene, "explain", name, "-n", "shop", "-o", "json");
    assert.equal(JSON.parse(stdout).pod, "shop/web");
    assert.equal(stderr, `Pod "shop/web" of ${name}\n`);
  }
}

async function short(scene: Scene): Promise<void> {
  const before = await scene.node.executed();
  const { stdout } = await explain(scene, "explain", "-l", "mesh=yes", "-A", "-o", "short");
  const lines = stdout.trim().split("\n").map((line) => line.split(/\s{2,}/));
  assert.deepEqual(lines.map(([pod]) => pod), ["POD", "shop/admin", "shop/ended", "shop/web"]);
  assert.match(lines.at(2)?.at(-1) ?? "", /container istio-proxy ended: exit code 255/);
  // One exec for each pod whose proxy runs.
  assert.equal(await scene.node.executed() - before, 2);
}

async function forbidden(scene: Scene): Promise<void> {
  await kubectl(scene.cluster, ["create", "role", "reader", "-n", "shop", "--verb=get", "--resource=pods"]);
  await kubectl(scene.cluster, ["create", "rolebinding", "joe", "-n", "shop", "--role=reader", "--user=joe"]);
  const { configuration, containers, traffic } = await glanceOf(scene, "web", "-n", "shop", "--as", "joe");
  assert.match(
    configuration.message,
    /User "joe" cannot (get|create) resource "pods\/exec".*an administrator can grant/,
  );
  // The ephemeral container has stayed.
  assert.deepEqual([containers.length, traffic.source], [4, "planned"]);
  const saved = await explain(scene, "capture", "web", "-n", "shop", "--as", "joe", "-o", `${scene.folder}/no.tar.gz`);
  assert.equal(saved.code, 1);
  assert.match(
    saved.stderr,
    /^error: Nothing of the proxy of pod\/web in the namespace "shop" can be read: .*forbidden/,
  );
  await assert.rejects(Deno.stat(`${scene.folder}/no.tar.gz`));
  const { stderr, code } = await explain(scene, "explain", "-l", "a=b", "-n", "shop", "--as", "joe");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: The Kubernetes API server does not allow it: pods is forbidden: User "joe" cannot list/,
  );
}

async function broken(scene: Scene): Promise<void> {
  const gone = await explain(scene, "explain", "pod/gone", "-n", "shop");
  assert.equal(gone.stderr, 'error: There is no "pod/gone" in the namespace "shop"; see --namespace\n');
  const { configuration, findings } = await glanceOf(scene, "ended", "-n", "shop");
  assert.match(configuration.message, /container "istio-proxy" of pod "shop\/ended" is not running/);
  assert.ok(findings.some(({ message }) => message.startsWith("container istio-proxy ended: exit code 255")));
  const plain = await glanceOf(scene, "plain", "-n", "shop");
  assert.equal(plain.findings[0]?.id, "no-proxy");
  const other = await glanceOf(scene, "web", "-n", "shop", "-c", "envoy");
  assert.match(other.configuration.message, /no container "envoy"/);
}

async function silent(scene: Scene): Promise<void> {
  const { configuration, traffic } = await glanceOf(scene, "admin", "-n", "shop");
  assert.match(configuration.message, /Envoy does not answer|connection refused/i);
  assert.equal(traffic.source, "seen");
}
