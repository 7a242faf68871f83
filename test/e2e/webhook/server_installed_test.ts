/** The command line of the Deployment that `webhook manifests` prints, run with its account's rights. */
import assert from "node:assert/strict";
import { MESH_COMMAND, runMesh } from "../../support/programs/mesh.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { until } from "../../support/until.ts";
import { kubectl } from "../support/webhook.ts";

const NAME = "kubectl-mesh-webhook";
const NAMESPACE = "mesh";

testWhen(
  needsCluster() ?? needsProgram("openssl"),
  "the installed webhook serves a trusted certificate, and the same after a restart",
  async () => {
    const cluster = await startCluster();
    const folder = await Deno.makeTempDir();
    try {
      await kubectl(cluster, ["create", "namespace", NAMESPACE]);
      const { stdout } = await runMesh(["webhook", "manifests", "--take-over", `--namespace=${NAMESPACE}`]);
      await kubectl(cluster, ["apply", "-f", "-"], stdout);
      const [first, second] = [await served(cluster, folder), await served(cluster, folder)];
      assert.match(first, /^-----BEGIN CERTIFICATE-----/);
      assert.equal(first, second);
    } finally {
      await Deno.remove(folder, { recursive: true });
      await cluster.stop();
    }
  },
);

/** Runs the webhook until the API server would trust it. Returns the served certificate. */
async function served(cluster: Cluster, folder: string): Promise<string> {
  const log = { text: "" };
  const child = new Deno.Command(MESH_COMMAND, {
    args: await argumentsOf(cluster, folder),
    env: { KUBECONFIG: await kubeconfigOf(cluster, folder) },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const reading = read(child.stderr, log);
  const port = () => /reviews on port (\d+)/.exec(log.text)?.[1];
  await until(() => port() !== undefined, () => `Never: it serves: ${log.text}`);
  let certificate = "";
  await until(async () => {
    certificate = await trusted(cluster, port() ?? "", folder);
    return certificate !== "";
  }, () => `Never: it is trusted: ${log.text}`);
  child.kill("SIGTERM");
  assert.equal((await child.status).code, 0);
  await reading;
  assert.doesNotMatch(log.text, /forbidden|PRIVATE KEY|error webhook|warning webhook/);
  return certificate;
}

async function read(stream: ReadableStream<Uint8Array>, log: { text: string }): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) log.text += text;
}

/** The arguments of the Deployment, with other ports and the ConfigMap as files in this folder. */
async function argumentsOf(cluster: Cluster, folder: string): Promise<string[]> {
  const get = async (kind: string) =>
    JSON.parse(await kubectl(cluster, ["get", kind, NAME, "-n", NAMESPACE, "-o", "json"]));
  const { data } = await get("configmap");
  for (const [name, text] of Object.entries<string>(data)) await Deno.writeTextFile(`${folder}/${name}`, text);
  const [container] = (await get("deployment")).spec.template.spec.containers;
  const args: string[] = container.args;
  const mount: string = container.volumeMounts[0].mountPath;
  const other = ["--listen=127.0.0.1:0", "--plain-listen=127.0.0.1:0", "--shutdown-delay=0s"];
  return [...args.map((arg) => arg.replace(mount, folder)), ...other];
}

async function kubeconfigOf(cluster: Cluster, folder: string): Promise<string> {
  const token = (await kubectl(cluster, ["create", "token", NAME, "-n", NAMESPACE])).trim();
  const config = JSON.parse(await Deno.readTextFile(cluster.kubeconfig));
  const path = `${folder}/kubeconfig`;
  await Deno.writeTextFile(path, JSON.stringify({ ...config, users: [{ name: "admin", user: { token } }] }));
  return path;
}

/** The served certificate if it verifies with the caBundle and the Service's name; else "". */
async function trusted(cluster: Cluster, port: string, folder: string): Promise<string> {
  const path = "jsonpath={.webhooks[0].clientConfig.caBundle}";
  const bundle = await kubectl(cluster, ["get", "mutatingwebhookconfiguration", "istio-sidecar-injector", "-o", path]);
  if (bundle === "") return "";
  await Deno.writeTextFile(`${folder}/bundle`, atob(bundle));
  const { code, stdout } = await new Deno.Command("openssl", {
    args: [
      ...["s_client", "-connect", `127.0.0.1:${port}`, "-CAfile", `${folder}/bundle`, "-verify_return_error"],
      ...["-verify_hostname", `${NAME}.${NAMESPACE}.svc`, "-servername", `${NAME}.${NAMESPACE}.svc`],
    ],
    stdin: "null",
    stderr: "null",
  }).output();
  const found = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/.exec(new TextDecoder().decode(stdout));
  return code === 0 ? found?.[0] ?? "" : "";
}
