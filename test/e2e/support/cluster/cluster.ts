/** A cluster without nodes: a real kube-apiserver. The tests of a run share a pool of them. */
import { needsProgram } from "../../../support/test_when.ts";
import type { TestCertificate } from "../../../support/tls/certificates.ts";
import { goProgram } from "../../../support/programs/go_program.ts";
import { ApiServer, lastCertificate } from "./api_server.ts";
import { type Lent, POOL } from "./pool.ts";
import { addServiceAccount } from "./requests.ts";

/** A running cluster. */
export interface Cluster {
  /** Path of a kubeconfig file of an administrator. */
  readonly kubeconfig: string;
  /** URL of the API server. */
  readonly url: string;
  /** An HTTP client that trusts the API server and keeps connections. */
  readonly http: Deno.HttpClient;
  /** A certificate of the user "server", with its key. */
  readonly client: TestCertificate;
  /** The authority of the API server's own certificate, PEM. */
  authority(): Promise<string>;
  /** The kubectl of this cluster: a path, or `kubectl` on PATH. */
  readonly program: string;
  kubectl(args: readonly string[], stdin?: string): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Runs a shell command as printed. `kubectl` uses this cluster, and has `mesh` as its plugin. */
  shell(command: string, mesh?: string): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Stops the cluster, or returns it to the pool. */
  stop(): Promise<void>;
}

/** A cluster that no other test uses. */
export interface OwnCluster extends Cluster {
  /** Restarts the API server on the same port; `flags` are additional flags for this run. */
  restart(flags?: readonly string[]): Promise<void>;
  /** Stops the API server until the next `restart`. */
  kill(): Promise<void>;
}

/** Why a test that needs a cluster cannot run on this machine; `undefined` if it can. */
export function needsCluster(): string | undefined {
  return needsProgram("etcd") ?? needsProgram("openssl") ?? needsProgram("go");
}

/** A new cluster: only the API server's own objects and the default service account. */
export async function startCluster(): Promise<Cluster> {
  const pool = Deno.env.get(POOL);
  return pool === undefined ? await startOwnCluster() : await borrow(pool);
}

/** A new cluster that no other test uses. `flags` are for its first run; `version` is the version of Kubernetes. */
export async function startOwnCluster(flags: readonly string[] = [], version?: string): Promise<OwnCluster> {
  const server = await ApiServer.start(flags, version);
  const cluster = await clusterIn(server.folder, () => server.stop());
  return { ...cluster, restart: (flags) => server.restart(flags), kill: () => server.kill() };
}

/** Borrows a server from the pool, until the connection ends. */
async function borrow(path: string): Promise<Cluster> {
  const connection = await Deno.connect({ transport: "unix", path });
  const lines = connection.readable.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "{}" } = await lines.read();
  const { folder, error }: Lent = JSON.parse(value);
  if (folder !== undefined) return await clusterIn(folder, () => lines.cancel());
  await lines.cancel();
  throw new Error(error ?? "The pool of clusters has ended");
}

const PROGRAMS = `CONFIG=$1 MESH=$2
  kubectl() { if [ "$1" = mesh ]; then shift; "$MESH" "$@"; else command "$0" --kubeconfig "$CONFIG" "$@"; fi; };`;

async function clusterIn(folder: string, stop: () => Promise<void>): Promise<Cluster> {
  const package_ = "k8s.io/kubernetes/cmd/kubectl";
  const kubectl = needsProgram("kubectl") === undefined ? "kubectl" : await goProgram("test/e2e/servers", package_);
  const kubeconfig = `${folder}/kubeconfig`;
  const { clusters } = JSON.parse(await Deno.readTextFile(kubeconfig));
  const authority = async () => lastCertificate(await Deno.readTextFile(`${folder}/certs/apiserver.crt`));
  const http = Deno.createHttpClient({ caCerts: [await authority()] });
  const cluster: Cluster = {
    kubeconfig,
    url: clusters[0].cluster.server,
    client: JSON.parse(await Deno.readTextFile(`${folder}/client.json`)),
    http,
    authority,
    program: kubectl,
    kubectl: (args, stdin) => output(kubectl, ["--kubeconfig", kubeconfig, ...args], stdin),
    shell: (command, mesh = "kubectl-mesh") =>
      output("sh", ["-c", `${PROGRAMS} ${command}`, kubectl, kubeconfig, mesh]),
    stop() {
      http.close();
      return stop();
    },
  };
  await addServiceAccount(cluster, "default");
  return cluster;
}

async function output(command: string, args: readonly string[], stdin?: string) {
  const child = new Deno.Command(command, {
    args: [...args],
    stdin: stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const feeding = stdin === undefined ? undefined : new Blob([stdin]).stream().pipeTo(child.stdin);
  const [{ code, stdout, stderr }] = await Promise.all([child.output(), feeding]);
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}
