/**
 * `explain` of a running pod. The API server is real. The kubelet runs commands in the pod's network namespace, which
 * has a real Envoy and Istio's rules. `MESH_PILOT_AGENT=FILE` tests Istio's pilot-agent in place of this program's.
 */
import assert from "node:assert/strict";
import { ANSWER, type Answer } from "../../../src/explain/answer_schema.ts";
import { POD_SUMMARY } from "../../../src/explain/summary/pod_summary_schema.ts";
import { textsAt } from "../../../src/base/value.ts";
import { MESH_COMMAND, runMesh } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { type Namespace, Pair } from "../iptables/support/pod.ts";
import { startCluster } from "../support/cluster/cluster.ts";
import { reported } from "../support/cluster/requests.ts";
import { startKubelet } from "../support/kubelet.ts";
import {
  APPLICATION_PORT,
  CAPTURE_ARGS,
  ended,
  EXCLUDED_PORT,
  IMAGE,
  kubectl,
  missing,
  NODE_ID,
  ownAgent,
  RUNNING,
  type Scene,
  scene,
  SERVER_PORT,
  startEnvoy,
  startServer,
} from "./support/live_scene.ts";
import { AS_APPLICATION, explain, guestsOf, guestSpecs, proxyOf } from "./support/live_guests.ts";
import { matrix } from "./support/live_matrix.ts";
import { savedMany } from "./support/saved_many.ts";

testWhen(missing, "a running pod is read through the API server", async (t) => {
  await using folder = await temporaryFolder();
  await using pair = await Pair.create([4]);
  const namespace = pair.pod;
  const process = await startEnvoy(namespace, folder.path);
  const server = await startServer(pair);
  try {
    const applied = await namespace.mesh(["iptables", "apply", ...CAPTURE_ARGS]);
    assert.equal(applied.code, 0, applied.stderr);
    const cluster = await startCluster();
    try {
      const node = await startKubelet(cluster);
      try {
        const at = await scene({ cluster, node, folder: folder.path }, namespace);
        await t.step("the summary: Envoy, sockets and rules as they are", () => summary(at));
        await t.step("parts of the configuration", () => listed(at));
        await t.step("without NET_ADMIN the rules are planned", () => planned(at));
        await t.step("a snapshot gives the same answer, without the cluster and without secrets", () => saved(at));
        await t.step("a snapshot of many pods has logs, events and the control plane's side", () => savedMany(at));
        await t.step("an ephemeral container reads the rules", () => ephemeral(at));
        await t.step("--local: in the pod's network namespace", () => local(namespace));
        await t.step("--local --trace: the kernel's station is proved", () => localTrace(namespace));
        await t.step("--local --probe: stations are proved", () => localProbe(namespace));
        await t.step("--probe: stations are proved, by counters, sockets and the access log", () => probe(at));
        await t.step("--probe: into the pod", () => inboundProbe(at, namespace));
        await t.step("--probe: a connection that bypasses, and one that fails", () => probeEnds(at));
        await t.step("--probe: without curl, without the right", () => noProbe(at));
        await t.step("a workload, a service and labels find the pod", () => choices(at));
        await t.step("a line for each pod", () => short(at));
        await t.step(
          "without the right to exec, the answer says so, and has only data of the API server",
          () => forbidden(at),
        );
        await t.step("every workload to every Service, and the proof", () => matrix(at));
        await t.step("gone, not running, not injected, no such container", () => broken(at));
        await t.step("an Envoy that does not answer", async () => {
          process.kill("SIGKILL");
          await process.status;
          await withOwnAgent(at, "config_dump*", () => silent(at));
        });
      } finally {
        await node.stop();
      }
    } finally {
      await cluster.stop();
    }
  } finally {
    await ended(process);
    await ended(server);
    // Only here: closing its output ends the server.
    await server.stdout.cancel();
  }
});

async function podSummary(scene: Scene, ...args: string[]) {
  const { stdout, stderr } = await explain(scene, "explain", ...args, "-o", "json");
  assert.ok(stdout.startsWith("{"), stderr);
  return POD_SUMMARY.parse(JSON.parse(stdout));
}

/** Runs `explain` and the pod's `pilot-agent` as separate processes. */
async function summary(scene: Scene): Promise<void> {
  const stdout = await withOwnAgent(scene, "*", async () => {
    const args = ["explain", "pod/admin", "-n", "shop", "-o", "json"];
    return (await runMesh(args, { env: { KUBECONFIG: scene.cluster.kubeconfig } })).stdout;
  });
  const { pod, traffic, configuration, findings } = POD_SUMMARY.parse(JSON.parse(stdout));
  assert.equal(pod, "shop/admin");
  assert.deepEqual([configuration.state, configuration.istio, configuration.envoy], ["LIVE", "1.29.1", "1.40.0"]);
  assert.deepEqual([traffic.source, traffic.mode], ["seen", "REDIRECT"]);
  const listening = traffic.ports.filter(({ listens }) => listens === "yes").map(({ port }) => port);
  assert.ok(listening.includes(15001), JSON.stringify(traffic.ports));
  assert.equal(traffic.ports.find(({ port }) => port === 15000)?.listens, "loopback");
  assert.deepEqual(findings.map(({ id }) => id), ["configuration", "port"]);
}

async function withOwnAgent<T>({ node, containers }: Scene, paths: string, body: () => Promise<T>): Promise<T> {
  const own = Object.entries(containers).map(([name, container]) =>
    [name, { ...container, command: [...container.command ?? [], "env", ownAgent(paths)] }] as const
  );
  await node.runs(Object.fromEntries(own));
  try {
    return await body();
  } finally {
    await node.runs(containers);
  }
}

async function listed(scene: Scene): Promise<void> {
  const list = (...args: string[]) => explain(scene, "explain", "deployment/web", "-n", "shop", "--of", ...args);
  const clusters = await list("clusters", "--fqdn", "a.shop", "--port", "80");
  assert.deepEqual(clusters.stdout.split("\n").map((line) => line.split(/ {2,}/)), [
    ["SERVICE FQDN", "PORT", "SUBSET", "DIRECTION", "TYPE", "DESTINATION RULE"],
    ["a.shop.svc.cluster.local", "80", "-", "outbound", "STATIC"],
    [""],
  ]);
  assert.match((await list("listeners", "--port", "15001")).stdout, /^0\.0\.0\.0 +15001 +ALL +PassthroughCluster$/m);
  const endpoints = JSON.parse((await list("endpoints", "--port", String(SERVER_PORT), "-o", "json")).stdout);
  assert.deepEqual(endpoints.map(({ name }: { name: string }) => name), ["outbound|80||a.shop.svc.cluster.local"]);
}

async function planned(scene: Scene): Promise<void> {
  const { traffic } = await podSummary(scene, "web", "-n", "shop");
  assert.equal(traffic.source, "planned");
  assert.match(traffic.message, /lacks the capability NET_ADMIN/);
}

async function saved(scene: Scene): Promise<void> {
  const path = `${scene.folder}/web.tar.gz`;
  const { code, stderr } = await explain(scene, "snapshot", "pod/web", "-n", "shop", "-o", path);
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    /^".*web\.tar\.gz" has \d+ files of pod\/web in the namespace "shop", \d+ KiB; \d+ values were redacted\n/,
  );
  assert.match(
    stderr,
    /without rules\.iptables, rules\.ip6tables, rules\.nft: the container "istio-proxy" lacks the capability NET_ADMIN/,
  );
  assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  const listing = await new Deno.Command("tar", { args: ["-xzOf", path] }).output();
  const text = new TextDecoder().decode(listing.stdout);
  assert.ok(text.includes(NODE_ID) && text.includes("[redacted]"));
  assert.equal(text.includes("hunter2"), false);
  const again = await runMesh(["explain", "-f", path, "-o", "json"]);
  const live = await podSummary(scene, "web", "-n", "shop");
  const { configuration, time: _, ...other } = POD_SUMMARY.parse(JSON.parse(again.stdout));
  const { configuration: own, time: _now, ...now } = live;
  const same = (texts: string) => texts.replaceAll(/runs for [\dhms ]+|\b\d+d \d+h\b/g, "runs");
  assert.equal(same(JSON.stringify(other)), same(JSON.stringify(now)));
  assert.equal(configuration.envoy, own.envoy);
}

interface GuestPlace {
  readonly pod: string;
  /** The ephemeral containers that the pod had before. */
  readonly known: readonly string[];
  /** Arguments before each command of the ephemeral container. */
  readonly before: () => Promise<readonly string[]>;
  /** PATH of the ephemeral container. */
  readonly path?: string;
}

/** Waits for an ephemeral container and starts it, as a kubelet does. */
async function startGuest(scene: Scene, { pod, known, before, ...other }: GuestPlace): Promise<void> {
  const { cluster, node, containers } = scene;
  let name = "";
  const added = async () => (name = (await guestsOf(scene, pod)).find((each) => !known.includes(each)) ?? "") !== "";
  await until(added, () => "no ephemeral container was added");
  const proxy = proxyOf(scene);
  const guest = { ...proxy, ...other, command: [...proxy.command, ...await before()] };
  await node.runs({ ...containers, [`shop/${pod}/${name}`]: guest });
  const own = { name, image: IMAGE, imageID: "", ready: false, restartCount: 0, state: RUNNING };
  const object = { apiVersion: "v1", kind: "Pod", metadata: { name: pod, namespace: "shop" } };
  await reported(cluster, object, { ephemeralContainerStatuses: [own] });
}

/** Runs explain; the kubelet starts the ephemeral container that it adds to the pod. */
async function withGuest(scene: Scene, pod: string, before: readonly string[], ...args: string[]) {
  const known = await guestsOf(scene, pod);
  const running = explain(scene, "explain", `pod/${pod}`, "-n", "shop", "-o", "json", ...args);
  await startGuest(scene, { pod, known, before: () => Promise.resolve(before) });
  return await running;
}

/** Runs the command of the last ephemeral container as PID 1 of a new PID namespace. */
async function startFirst(scene: Scene): Promise<{ readonly process: Deno.ChildProcess; readonly inside: string[] }> {
  const { command: [program = "", ...own], path } = proxyOf(scene);
  const command = textsAt((await guestSpecs(scene, "web")).at(-1) ?? {}, "command");
  const args = [
    ...own,
    "unshare",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "env",
    `PATH=${path}`,
    ...command,
  ];
  const process = new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  const children = `/proc/${process.pid}/task/${process.pid}/children`;
  let first = "";
  await until(async () => (first = (await Deno.readTextFile(children)).trim()) !== "", () => "the guest did not start");
  return { process, inside: ["nsenter", "--target", first, "--pid", "--mount"] };
}

async function ephemeral(scene: Scene): Promise<void> {
  const processes: Deno.ChildProcess[] = [];
  const before = async () => {
    const { process, inside } = await startFirst(scene);
    processes.push(process);
    return inside;
  };
  const running = explain(scene, "explain", "pod/web", "-n", "shop", "-o", "json", "--ephemeral");
  await startGuest(scene, { pod: "web", known: [], before });
  const { stdout, stderr } = await running;
  const { traffic, containers } = POD_SUMMARY.parse(JSON.parse(stdout));
  assert.deepEqual([traffic.source, traffic.mode], ["seen", "REDIRECT"]);
  assert.equal(containers.length, 3);
  assert.match(
    stderr,
    /^Adding the ephemeral container "kubectl-mesh-rules-1" to pod "shop\/web": image ".*", user 0, capabilities NET_ADMIN/,
  );
  await interrupted(scene, before);
  // 143: SIGTERM ended the container before its own timeout.
  for (const process of processes) assert.equal((await process.status).code, 143);
  const nobody = ["--as", "joe", "--as-group", "system:authenticated"];
  const joe = await explain(scene, "explain", "pod/web", "-n", "shop", "--ephemeral", "-o", "json", ...nobody);
  assert.match(joe.stderr, /^error: The Kubernetes API server denied the request/);
}

/** Ctrl-C while the rules are read. */
async function interrupted(scene: Scene, before: GuestPlace["before"]): Promise<void> {
  const programs = `${scene.folder}/endless`;
  await Deno.mkdir(programs);
  for (const name of ["iptables-save", "ip6tables-save"]) {
    await Deno.writeTextFile(`${programs}/${name}`, `#!/bin/sh\n: >${programs}/started\nexec sleep 1000\n`, {
      mode: 0o755,
    });
  }
  const args = ["explain", "pod/web", "-n", "shop", "--ephemeral"];
  const env = { KUBECONFIG: scene.cluster.kubeconfig };
  const known = await guestsOf(scene, "web");
  const command = new Deno.Command(MESH_COMMAND, { args, env, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  await startGuest(scene, { pod: "web", known, before, path: `${programs}:${Deno.env.get("PATH")}` });
  await until(() => Deno.stat(`${programs}/started`).then(() => true, () => false), () => "no rules were asked for");
  command.kill("SIGINT");
  assert.equal((await command.status).code, 130);
}

const HTTP = ["--to", "10.196.0.1:80/x", "--header", "Host:a.shop"];

function provedKinds({ stations }: Answer): string {
  return stations.filter(({ source }) => source === "proved").map(({ kind }) => kind).join(" ");
}

function answerIn(stdout: string): Answer {
  return ANSWER.parse(JSON.parse(stdout));
}

async function local(namespace: Namespace): Promise<void> {
  const { stdout } = await namespace.mesh(["explain", "--local", "-o", "json"]);
  const { pod, traffic, configuration } = POD_SUMMARY.parse(JSON.parse(stdout));
  assert.deepEqual([pod, traffic.source, traffic.mode, configuration.state], ["shop/web", "seen", "REDIRECT", "LIVE"]);
  const plain = answerIn((await namespace.mesh(["explain", "--local", ...HTTP, "-o", "json"])).stdout);
  assert.deepEqual([plain.verdict, provedKinds(plain), plain.probe], ["reaches", "", undefined]);
  assert.equal(plain.clusters[0]?.name, "outbound|80||a.shop.svc.cluster.local");
}

async function localTrace(namespace: Namespace): Promise<void> {
  const { stdout, code } = await namespace.mesh(["explain", "--local", ...HTTP, "--trace", "-o", "json"]);
  const answer = answerIn(stdout);
  assert.deepEqual([code, answer.verdict, provedKinds(answer)], [0, "reaches", "kernel"], stdout);
  const { message = "" } = answer.stations.find(({ kind }) => kind === "kernel") ?? {};
  assert.match(message, /; trace: \S+ -> 10\.196\.0\.1:80: it is redirected to port 15001$/);
}

/** With `--local` the proxy's log cannot be read: counters and sockets decide. */
async function localProbe(namespace: Namespace): Promise<void> {
  const { stdout, code } = await namespace.mesh(["explain", "--local", ...HTTP, "--probe", "-o", "json"]);
  const answer = answerIn(stdout);
  assert.deepEqual([code, answer.verdict], [0, "reaches"], stdout);
  assert.equal(provedKinds(answer), "kernel listener cluster endpoint");
  assert.match(answer.probe?.result ?? "", /: the response is 200$/);
}

async function probe(scene: Scene): Promise<void> {
  const { stdout, stderr, code } = await withGuest(scene, "admin", AS_APPLICATION, "--probe", ...HTTP);
  const answer = answerIn(stdout);
  assert.deepEqual([code, answer.verdict], [0, "reaches"], stdout);
  assert.equal(provedKinds(answer), "application kernel listener route cluster endpoint", stdout);
  assert.match(
    stderr,
    /^Adding the ephemeral container "kubectl-mesh-probe-1" .* user 1000, no capabilities, to send/,
  );
  const kernel = answer.stations.find(({ kind }) => kind === "kernel")?.message ?? "";
  const [, before, after] =
    /port 15001 accepted the connection; the counter of the rule went from (\d+) to (\d+)$/.exec(kernel) ??
      [];
  assert.ok(Number(after) > Number(before), kernel);
  const tcp = await withGuest(scene, "admin", AS_APPLICATION, "--probe", "--to", "10.196.0.2:3306");
  const other = answerIn(tcp.stdout);
  assert.equal(provedKinds(other), "application kernel listener cluster endpoint", tcp.stdout);
  assert.deepEqual(other.endpoints.map(({ address }) => address), ["10.196.0.2:3306"]);
  assert.match(other.probe?.request ?? "", /^a connection to 10\.196\.0\.2:3306 without data as UID 1000$/);
}

const IN = ["--from", "10.9.9.9", "--to-port", String(APPLICATION_PORT), "--probe"];

async function inboundProbe(scene: Scene, namespace: Namespace): Promise<void> {
  const user = ["setpriv", "--reuid=1337", "--regid=1337", "--clear-groups"];
  const { stdout, stderr, code } = await withGuest(scene, "admin", user, ...IN);
  const answer = answerIn(stdout);
  assert.deepEqual([code, answer.verdict], [0, "reaches"], stdout);
  assert.equal(provedKinds(answer), "listener authorization route cluster endpoint port", stdout);
  assert.match(stderr, / user 1337, no capabilities, to send the request; it exits with this command/);
  assert.match(answer.probe?.unproved.join() ?? "", /not proved: kernel, .*a probe cannot use the address 10\.9\.9\.9/);
  const secret = await withGuest(scene, "admin", user, ...IN, "--header", ":path:/secret/1");
  const refused = answerIn(secret.stdout);
  assert.deepEqual([secret.code, refused.verdict], [1, "refused"], secret.stdout);
  assert.equal(provedKinds(refused), "listener authorization", secret.stdout);
  const local = answerIn((await namespace.mesh(["explain", "--local", ...IN, "-o", "json"])).stdout);
  assert.equal(provedKinds(local), "listener authorization cluster endpoint port", JSON.stringify(local));
}

async function probeEnds(scene: Scene): Promise<void> {
  const past = ["--to", `tcp://10.196.0.1:${EXCLUDED_PORT}`];
  const bypass = answerIn((await withGuest(scene, "admin", AS_APPLICATION, "--probe", ...past)).stdout);
  assert.deepEqual([bypass.verdict, provedKinds(bypass)], ["bypasses", "application kernel"]);
  assert.match(bypass.stations.at(-1)?.message ?? "", /the connection left the pod/);
  const broken = ["--to", "10.196.0.1:80/broken", "--header", "Host:a.shop"];
  const { stdout, code } = await withGuest(scene, "admin", AS_APPLICATION, "--probe", ...broken);
  const failed = answerIn(stdout);
  assert.deepEqual([code, failed.verdict], [1, "refused"]);
  assert.match(failed.reason, /^Envoy itself responded to the probe with 503 UF.*$/);
  // The probe runs as the proxy's user: the kernel does not capture it, although it captures the application.
  const other = ["setpriv", "--reuid=1337", "--regid=1337", "--clear-groups"];
  const { stdout: wrong } = await withGuest(scene, "admin", other, "--probe", "--to", "tcp://10.196.0.1:3306");
  assert.match(answerIn(wrong).reason, /did not use the expected kernel: the connection left the pod/);
}

async function noProbe(scene: Scene): Promise<void> {
  const { stdout, code } = await withGuest(
    scene,
    "admin",
    ["env", "PATH=/nonexistent"],
    "--probe",
    "--one-end",
    ...HTTP,
  );
  const answer = answerIn(stdout);
  assert.deepEqual([code, answer.verdict, provedKinds(answer)], [1, "reaches", ""]);
  assert.equal(answer.probe?.result, "not sent: curl is not installed");
  const role = ["create", "role", "executor", "-n", "shop", "--verb=get,create,list"];
  await kubectl(scene.cluster, [...role, "--resource=pods,pods/exec"]);
  await kubectl(scene.cluster, ["create", "rolebinding", "ann", "-n", "shop", "--role=executor", "--user=ann"]);
  const ann = await explain(
    scene,
    "explain",
    "pod/admin",
    "-n",
    "shop",
    ...HTTP,
    "--probe",
    "--one-end",
    "--as",
    "ann",
    "-o",
    "json",
  );
  assert.equal(ann.code, 1);
  const refused = answerIn(ann.stdout);
  assert.match(
    refused.probe?.result ?? "",
    /^not sent: the ephemeral container cannot be added: .*pods\/ephemeralcontainers/,
  );
  assert.equal(refused.verdict, "reaches");
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
  // Envoy has a static configuration and no control plane.
  assert.deepEqual(lines.map(([, synchronised]) => synchronised), ["SYNCHRONISED", "no", "unknown", "no"], stdout);
  // One exec for each pod whose proxy runs.
  assert.equal(await scene.node.executed() - before, 2);
  const all = await explain(scene, "explain", "-n", "shop", "-o", "short");
  for (const pod of ["shop/admin", "shop/ended", "shop/web"]) assert.match(all.stdout, new RegExp(`^${pod} `, "m"));
}

async function forbidden(scene: Scene): Promise<void> {
  await kubectl(scene.cluster, ["create", "role", "reader", "-n", "shop", "--verb=get", "--resource=pods"]);
  await kubectl(scene.cluster, ["create", "rolebinding", "joe", "-n", "shop", "--role=reader", "--user=joe"]);
  const { configuration, containers, traffic } = await podSummary(scene, "web", "-n", "shop", "--as", "joe");
  assert.match(
    configuration.message,
    /User "joe" cannot (get|create) resource "pods\/exec".*an administrator can grant/,
  );
  // The ephemeral containers of earlier steps stay in the pod.
  assert.deepEqual([containers.length, traffic.source], [5, "planned"]);
  const line = await explain(scene, "explain", "web", "-n", "shop", "--as", "joe", "-o", "short");
  assert.match(line.stdout, /unknown .*forbidden/);
  assert.equal(line.code, 1);
  const saved = await explain(scene, "snapshot", "web", "-n", "shop", "--as", "joe", "-o", `${scene.folder}/no.tar.gz`);
  assert.equal(saved.code, 1);
  assert.match(
    saved.stderr,
    /^error: The proxy of pod\/web in the namespace "shop" cannot be read: .*forbidden/,
  );
  await assert.rejects(Deno.stat(`${scene.folder}/no.tar.gz`));
  const { stderr, code } = await explain(scene, "explain", "-l", "a=b", "-n", "shop", "--as", "joe");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: The Kubernetes API server denied the request: pods is forbidden: User "joe" cannot list/,
  );
}

async function broken(scene: Scene): Promise<void> {
  const gone = await explain(scene, "explain", "pod/gone", "-n", "shop");
  assert.equal(gone.stderr, 'error: "pod/gone" does not exist in the namespace "shop"; see --namespace\n');
  const { configuration, findings } = await podSummary(scene, "ended", "-n", "shop");
  assert.match(configuration.message, /container "istio-proxy" of pod "shop\/ended" is not running/);
  assert.ok(findings.some(({ message }) => message.startsWith("container istio-proxy ended: exit code 255")));
  const plain = await podSummary(scene, "plain", "-n", "shop");
  assert.equal(plain.findings[0]?.id, "no-proxy");
  const other = await podSummary(scene, "web", "-n", "shop", "-c", "envoy");
  assert.match(other.configuration.message, /no container "envoy"/);
}

async function silent(scene: Scene): Promise<void> {
  const { configuration, traffic } = await podSummary(scene, "admin", "-n", "shop");
  assert.match(configuration.message, /Envoy does not accept connections|connection refused/i);
  assert.equal(traffic.source, "seen");
}
