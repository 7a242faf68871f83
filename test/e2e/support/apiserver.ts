/** A real kube-apiserver and etcd on loopback, for one test file: started with `startCluster`, ended with `stop`. */
import { type TestCertificate, testCertificate } from "../../support/tls/certificates.ts";
import { freePort } from "../../support/ports.ts";
import { needsProgram } from "../../support/test_when.ts";

const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);
const SERVERS = `${ROOT}test/e2e/servers`;
const CACHE = `${ROOT}.cache/servers`;
const TOKEN = "e2e-admin";

/** A running cluster without nodes. */
export interface Cluster {
  /** Path of a kubeconfig file of an administrator. */
  readonly kubeconfig: string;
  /** A certificate of the user "server", with its key. */
  readonly client: TestCertificate;
  /** The authority of the API server's own certificate, PEM. */
  authority(): Promise<string>;
  /** Ends the API server and starts it again, on the same port; with more flags for this run. */
  restart(flags?: readonly string[]): Promise<void>;
  /** Ends the API server: nobody answers until it is started again. */
  kill(): Promise<void>;
  kubectl(args: readonly string[], stdin?: string): Promise<{ code: number; stdout: string; stderr: string }>;
  stop(): Promise<void>;
}

/** Why a test that needs a cluster cannot run on this machine; `undefined` if it can. */
export function needsCluster(): string | undefined {
  return needsProgram("etcd") ?? needsProgram("openssl") ?? needsProgram("go");
}

/** Builds the server on first use (minutes), then starts it within seconds. */
export async function startCluster(): Promise<Cluster> {
  const binary = await buildServer("kube-apiserver");
  const kubectl = needsProgram("kubectl") === undefined ? "kubectl" : await buildServer("kubectl");
  const dir = await Deno.makeTempDir({ prefix: "mesh-cluster-" });
  const [clientPort, peerPort, securePort] = [freePort(), freePort(), freePort()];
  const etcd = start("etcd", [
    `--data-dir=${dir}/etcd`,
    "--unsafe-no-fsync",
    `--listen-client-urls=http://127.0.0.1:${clientPort}`,
    `--advertise-client-urls=http://127.0.0.1:${clientPort}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
  ], `${dir}/etcd.log`);
  await run("openssl", ["genrsa", "-out", `${dir}/sa.key`, "2048"]);
  await Deno.writeTextFile(`${dir}/tokens.csv`, `${TOKEN},admin,admin,system:masters\n`);
  const client = testCertificate();
  await Deno.writeTextFile(`${dir}/client-ca.crt`, client.authority);
  const flags = [
    `--etcd-servers=http://127.0.0.1:${clientPort}`,
    `--secure-port=${securePort}`,
    "--bind-address=127.0.0.1",
    `--cert-dir=${dir}/certs`,
    `--service-account-key-file=${dir}/sa.key`,
    `--service-account-signing-key-file=${dir}/sa.key`,
    "--service-account-issuer=https://127.0.0.1",
    `--token-auth-file=${dir}/tokens.csv`,
    "--authorization-mode=RBAC",
    `--client-ca-file=${dir}/client-ca.crt`,
    "--service-cluster-ip-range=10.0.0.0/24",
  ];
  let apiserver = start(binary, flags, `${dir}/apiserver.log`);
  const kubeconfig = `${dir}/kubeconfig`;
  await Deno.writeTextFile(kubeconfig, kubeconfigText(securePort ?? 0));
  const cluster: Cluster = {
    kubeconfig,
    client,
    // The file holds the certificate, and after it that of the authority which signed it.
    authority: async () => lastCertificate(await Deno.readTextFile(`${dir}/certs/apiserver.crt`)),
    async restart(more = []) {
      await cluster.kill();
      apiserver = start(binary, [...flags, ...more], `${dir}/apiserver.log`);
      await waitUntilReady(cluster, dir);
    },
    kill: () => end(apiserver),
    kubectl: (args, stdin) => output(kubectl, ["--kubeconfig", kubeconfig, ...args], stdin),
    async stop() {
      for (const child of [apiserver, etcd]) await end(child);
      await Deno.remove(dir, { recursive: true });
    },
  };
  await waitUntilReady(cluster, dir);
  return cluster;
}

/** Builds a program of Kubernetes out of the pinned module; the stamp beside it tells what it was built from. */
async function buildServer(name: string): Promise<string> {
  const binary = `${CACHE}/${name}`;
  const stamp = `${binary}.sum`;
  await Deno.mkdir(CACHE, { recursive: true });
  const sum = await Deno.readTextFile(`${SERVERS}/go.sum`);
  if (await readOr(stamp) === sum) return binary;
  await run("go", ["-C", SERVERS, "build", "-o", binary, `k8s.io/kubernetes/cmd/${name}`]);
  await Deno.writeTextFile(stamp, sum);
  return binary;
}

async function readOr(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch {
    return undefined;
  }
}

function lastCertificate(pem: string): string {
  return pem.slice(pem.lastIndexOf("-----BEGIN CERTIFICATE-----"));
}

function start(command: string, args: readonly string[], log: string): Deno.ChildProcess {
  const script = 'log=$1; shift; exec "$@" >"$log" 2>&1';
  return new Deno.Command("sh", { args: ["-c", script, "sh", log, command, ...args], stdin: "null" }).spawn();
}

/** A child that has ended already is none to be ended. */
async function end(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  await child.status;
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const result = await output(command, args);
  if (result.code !== 0) throw new Error(`${command} ${args.join(" ")}: ${result.stderr.slice(-2000)}`);
}

async function output(command: string, args: readonly string[], stdin?: string) {
  const child = new Deno.Command(command, {
    args: [...args],
    stdin: stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

function kubeconfigText(port: number): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "e2e", cluster: { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } }],
    users: [{ name: "admin", user: { token: TOKEN } }],
    contexts: [{ name: "e2e", context: { cluster: "e2e", user: "admin" } }],
    "current-context": "e2e",
  });
}

/** What a controller does in a whole cluster: pods are only accepted where their service account is. */
export async function addServiceAccount(cluster: Cluster, namespace: string): Promise<void> {
  await cluster.kubectl(["create", "serviceaccount", "default", "-n", namespace]);
}

async function waitUntilReady(cluster: Cluster, dir: string): Promise<void> {
  for (let attempt = 0; attempt < 120; attempt++) {
    const answer = await cluster.kubectl(["get", "namespace", "default"]);
    if (answer.code === 0) return await addServiceAccount(cluster, "default");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const log = (await readOr(`${dir}/apiserver.log`) ?? "").slice(-2000);
  await cluster.stop();
  throw new Error(`kube-apiserver did not become ready: ${log}`);
}
