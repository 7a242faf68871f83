import assert from "node:assert/strict";
import { configurationOf, showConfiguration } from "../../../src/inject/mod.ts";
import { webhookManifests } from "../../../src/webhook/manifests/mod.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { kubectl } from "../support/webhook.ts";
import { reviewOf } from "./support/server.ts";

const NAME = "kubectl-mesh-webhook";

/** The cluster has no nodes: the test runs the container's command, with the rights of its ServiceAccount. */
testWhen(
  needsCluster(),
  "installed with --from-cluster, the webhook injects with the control plane's configuration",
  async () => {
    const cluster = await startCluster();
    try {
      await addControlPlane(cluster);
      await kubectl(cluster, ["create", "namespace", "mesh"]);
      const manifests = webhookManifests({ image: "example.com/mesh:1", namespace: "mesh", fromCluster: {} });
      await kubectl(cluster, ["apply", "-f", "-"], manifests);
      await serves(cluster);
    } finally {
      await cluster.stop();
    }
  },
);

/** Creates the ConfigMaps of an installation of Istio. */
async function addControlPlane(cluster: Cluster): Promise<void> {
  await kubectl(cluster, ["create", "namespace", "istio-system"]);
  await kubectl(cluster, ["create", "-n", "istio-system", "-f", "-"], showConfiguration(configurationOf({})));
  const mesh = [
    "create",
    "configmap",
    "istio",
    "-n",
    "istio-system",
    "--from-literal=mesh=rootNamespace: istio-system",
  ];
  await kubectl(cluster, mesh);
}

async function serves(cluster: Cluster): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const args = await containerArguments(cluster);
    const kubeconfig = `${folder}/kubeconfig`;
    await writeKubeconfig(cluster, kubeconfig);
    const command = new Deno.Command(MESH_COMMAND, {
      args: [...args, `--kubeconfig=${kubeconfig}`],
      env: { NO_COLOR: "1", MESH_LOG_FORMAT: "text" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    });
    await using server = new Running(command);
    const port = Number((await server.said(/reviews on port (\d+)/))[1]);
    const injected = await review(port, atob(await caBundle(cluster)));
    assert.equal(injected.response.allowed, true);
    assert.match(atob(injected.response.patch), /istio-proxy/);
    await goesByNodes(cluster, async () => proxyPlace(await review(port, atob(await caBundle(cluster)))));
    assert.doesNotMatch(server.log, / (warning|error) /);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Proxies become native sidecars if the kubelets of all nodes are new enough. */
async function goesByNodes(cluster: Cluster, place: () => Promise<string>): Promise<void> {
  assert.equal(await place(), "containers", "there are no nodes");
  for (
    const [name, kubeletVersion, expected] of [["new", "v1.34.1", "initContainers"], ["old", "v1.32.0", "containers"]]
  ) {
    const node = { apiVersion: "v1", kind: "Node", metadata: { name }, status: { nodeInfo: { kubeletVersion } } };
    await kubectl(cluster, ["create", "-f", "-"], JSON.stringify(node));
    await until(async () => await place() === expected, `The proxy never came to ${expected}`);
  }
}

/** The list of containers that the patch adds the proxy to. */
function proxyPlace({ response: { patch } }: { readonly response: { readonly patch: string } }): string {
  const operations: { readonly path: string; readonly value?: unknown }[] = JSON.parse(atob(patch));
  const found = operations.find(({ value }) => JSON.stringify(value)?.includes('"name":"istio-proxy"') === true);
  return found?.path.split("/")[2] ?? "";
}

/** The arguments of the Deployment's container, with free ports. */
async function containerArguments(cluster: Cluster): Promise<string[]> {
  const deployment = JSON.parse(await kubectl(cluster, ["get", "deployment", NAME, "-n", "mesh", "-o", "json"]));
  const args: string[] = deployment.spec.template.spec.containers[0].args;
  assert(args.includes("--from-cluster"));
  return args.map((arg) => arg.replace(/^(--(?:plain-)?listen)=:\d+$/, "$1=127.0.0.1:0"));
}

async function writeKubeconfig(cluster: Cluster, path: string): Promise<void> {
  const token = (await kubectl(cluster, ["create", "token", NAME, "-n", "mesh"])).trim();
  const config = JSON.parse(await Deno.readTextFile(cluster.kubeconfig));
  await Deno.writeTextFile(path, JSON.stringify({ ...config, users: [{ name: "admin", user: { token } }] }));
}

async function caBundle(cluster: Cluster): Promise<string> {
  const path = "jsonpath={.webhooks[0].clientConfig.caBundle}";
  return await kubectl(cluster, ["get", "mutatingwebhookconfiguration", "istio-sidecar-injector", "-o", path]);
}

/** Sends a review like the API server: to the Service's name, trusting only the caBundle. */
async function review(port: number, bundle: string) {
  const body = reviewOf("web");
  const tcp = await Deno.connect({ hostname: "127.0.0.1", port });
  using tls = await Deno.startTls(tcp, { hostname: `${NAME}.mesh.svc`, caCerts: [bundle] });
  const head = ["POST /inject?timeout=10s HTTP/1.1", `host: ${NAME}.mesh.svc`, "content-type: application/json"];
  const request = [...head, `content-length: ${body.length}`, "connection: close", "", body].join("\r\n");
  const writer = tls.writable.getWriter();
  await writer.write(new TextEncoder().encode(request));
  let answer = "";
  for await (const text of tls.readable.pipeThrough(new TextDecoderStream())) answer += text;
  assert.match(answer, /^HTTP\/1\.1 200 /);
  return JSON.parse(answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1));
}

/** The program and its log. */
class Running {
  log = "";
  readonly #child: Deno.ChildProcess;
  readonly #ended: Promise<void>;

  constructor(command: Deno.Command) {
    this.#child = command.spawn();
    this.#ended = this.#read();
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) this.log += text;
  }

  async said(pattern: RegExp): Promise<RegExpExecArray> {
    await until(() => pattern.test(this.log), () => `It never logged ${pattern}:\n${this.log}`);
    return pattern.exec(this.log) ?? assert.fail();
  }

  async [Symbol.asyncDispose]() {
    this.#child.kill("SIGKILL");
    await this.#ended;
    await this.#child.status;
  }
}
