/** `webhook serve` as a process on loopback, and its registration in an API server. */
import assert from "node:assert/strict";
import { parseDocument, splitText } from "../../../src/yaml/mod.ts";
import { isMap, type Value, type ValueMap } from "../../../src/base/value.ts";
import { webhookManifests } from "../../../src/webhook/manifests/mod.ts";
import { type TestCertificate, testCertificate } from "../../support/tls/certificates.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { DEADLINE_MILLISECONDS } from "../../support/until.ts";
import type { Cluster } from "./cluster/cluster.ts";
import { applied, created, type Query, tried } from "./cluster/requests.ts";

/** Options of a start. */
export interface WebhookRun {
  readonly revision?: string;
  /** Texts of the files for `--inject-config`, `--values` and `--mesh-config`. */
  readonly config?: string;
  readonly values?: string;
  readonly mesh?: string;
  /** More flags. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A program with its arguments that starts the webhook. */
  readonly before?: readonly string[];
}

export interface WebhookProcess {
  readonly port: number;
  readonly plainPort: number;
  /** The authority that signed its first certificate. */
  readonly authority: string;
  /** Replaces a file: `config.yaml`, `values.yaml`, `mesh.yaml`. */
  write(name: string, text: string): Promise<void>;
  /** Replaces its certificate and key. */
  certify(certificate: TestCertificate): Promise<void>;
  /** The log so far. */
  log(): string;
  /** Waits until the log matches, from this position on. */
  logged(text: string | RegExp, from?: number): Promise<void>;
  /** Sends SIGTERM and waits for the end. Returns the exit code. */
  stop(): Promise<number>;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
}

const FILES = [["config", "--inject-config"], ["values", "--values"], ["mesh", "--mesh-config"]] as const;

/** Starts the webhook and waits until it answers. */
export async function startWebhook(run: WebhookRun = {}): Promise<WebhookProcess> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-webhook-" });
  const certificate = testCertificate();
  const write = (name: string, text: string) => replace(`${folder}/${name}`, text);
  const certify = async ({ certificate, key }: TestCertificate) => {
    await write("tls.key", key);
    await write("tls.crt", certificate);
  };
  await certify(certificate);
  const flags = [`--tls-cert=${folder}/tls.crt`, `--tls-key=${folder}/tls.key`];
  for (const [name, flag] of FILES) {
    const text = run[name];
    if (text === undefined) continue;
    await write(`${name}.yaml`, text);
    flags.push(`${flag}=${folder}/${name}.yaml`);
  }
  const process = await spawn(folder, { ...run, flags: [...flags, ...run.flags ?? []] });
  return { ...process, authority: certificate.authority, write, certify };
}

/** Starts the webhook with only these flags. Waits for the line `begun`, which names the port for probes as `plain`. */
export async function startServing(flags: readonly string[], begun = ANSWERS): Promise<Running> {
  return await spawn(await Deno.makeTempDir({ prefix: "mesh-webhook-" }), { revision: "", flags }, begun);
}

const ANSWERS = /reviews on port (?<port>\d+),.* metrics on port (?<plain>\d+)/;

export type Running = Omit<WebhookProcess, "authority" | "write" | "certify">;

async function spawn(
  folder: string,
  { revision = "default", flags = [], env = {}, before = [] }: WebhookRun,
  begun = ANSWERS,
): Promise<Running> {
  const addresses = ["--listen=127.0.0.1:0", "--plain-listen=127.0.0.1:0", "--shutdown-delay=0s"];
  const [program = MESH_COMMAND, ...first] = [...before, MESH_COMMAND];
  const child = new Deno.Command(program, {
    args: [...first, "webhook", "serve", ...revision === "" ? [] : [`--revision=${revision}`], ...addresses, ...flags],
    env: { KUBECONFIG: "/nonexistent", ...env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const log = collect(child.stderr);
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    child.kill(signal);
    const { code } = await child.status;
    await log.ended;
    await Deno.remove(folder, { recursive: true });
    return code;
  };
  const stop = () => end("SIGTERM");
  const kill = async () => void await end("SIGKILL");
  const ended = child.status.then(async ({ code }) => {
    await log.ended;
    return Promise.reject(new Error(`it ended with ${code}: ${log.text()}`));
  });
  ended.catch(() => {});
  const answers = log.has(begun, 0);
  answers.catch(() => {});
  await Promise.race([answers, ended]).catch(async (error) => {
    await Deno.remove(folder, { recursive: true });
    throw error;
  });
  const { port, plain } = begun.exec(log.text())?.groups ?? {};
  return { port: Number(port), plainPort: Number(plain), log: log.text, logged: log.has, stop, kill };
}

/** Collects a stream as text. `has` waits for a text in the stream. */
function collect(stream: ReadableStream<Uint8Array>) {
  let text = "";
  let hasEnded = false;
  let grown = Promise.withResolvers<void>();
  const read = async () => {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      grown.resolve();
      grown = Promise.withResolvers();
    }
    hasEnded = true;
    grown.resolve();
  };
  const has = async (wanted: string | RegExp, from = 0) => {
    const deadline = AbortSignal.timeout(DEADLINE_MILLISECONDS);
    const late = new Promise<void>((_, reject) =>
      deadline.onabort = () => reject(new Error(`${wanted} was not logged: ${text}`))
    );
    while (text.slice(from).search(wanted) < 0) await Promise.race(hasEnded ? [late] : [grown.promise, late]);
    deadline.onabort = null;
  };
  return { text: () => text, has, ended: read() };
}

/** Replaces a file atomically, like a mounted ConfigMap. */
async function replace(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(`${path}.new`, text, { mode: 0o600 });
  await Deno.rename(`${path}.new`, path);
}

/** Registration of a webhook. */
export interface Registration {
  readonly revision?: string;
  readonly tags?: readonly string[];
  readonly failurePolicy?: "Fail" | "Ignore";
  /** Port of 127.0.0.1. */
  readonly port: number;
  /** PEM; several certificates are one bundle. */
  readonly authority: string;
}

/** Applies the configuration of `webhook manifests` with a URL: there is no Service. */
export async function register(cluster: Cluster, registration: Registration): Promise<void> {
  const { revision = "default", tags = [], failurePolicy = "Fail", port, authority } = registration;
  const manifests = webhookManifests({ image: "example.com/kubectl-mesh:1", revision, tags, failurePolicy });
  const clientConfig = { url: `https://127.0.0.1:${port}/inject`, caBundle: btoa(authority) };
  const configurations = splitText(manifests, "").map((document) => parseDocument(document).value)
    .filter((manifest) => isMap(manifest) && manifest["kind"] === "MutatingWebhookConfiguration");
  for (const configuration of configurations) await apply(cluster, withClient(configuration, clientConfig));
}

function withClient(configuration: Value, clientConfig: Readonly<Record<string, Value>>): Value {
  if (!isMap(configuration) || !Array.isArray(configuration["webhooks"])) return configuration;
  const webhooks = configuration["webhooks"].map((webhook) => isMap(webhook) ? { ...webhook, clientConfig } : webhook);
  return { ...configuration, webhooks };
}

/** Applies an object. */
export async function apply(cluster: Cluster, object: Value): Promise<void> {
  if (!isMap(object)) throw new Error("This is no object");
  await applied(cluster, object);
}

/** Standard output of kubectl, which must succeed. */
export async function kubectl(cluster: Cluster, args: readonly string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(args, stdin);
  assert.equal(code, 0, `kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Creates objects. Returns the objects of the cluster. */
export async function create(cluster: Cluster, objects: readonly Value[], query: Query = {}): Promise<ValueMap[]> {
  const all: ValueMap[] = [];
  for (const object of objects.filter(isMap)) all.push(await created(cluster, object, query));
  return all;
}

/** The option of `create` for a dry run. */
export const DRY_RUN: Query = { dryRun: "All" };

/** The status annotation that a pod would get; `undefined` if the pod is refused or not injected. */
export async function triedStatus(cluster: Cluster, pod: ValueMap): Promise<ValueMap | undefined> {
  const { made } = await tried(cluster, pod);
  return made === undefined ? undefined : statusOf(made);
}

/** The status annotation of an injected pod; `undefined` for other pods. */
export function statusOf(pod: Value): ValueMap | undefined {
  const metadata = isMap(pod) ? pod["metadata"] : undefined;
  const annotations = isMap(metadata) ? metadata["annotations"] : undefined;
  const status = isMap(annotations) ? annotations["sidecar.istio.io/status"] : undefined;
  const parsed: Value = typeof status === "string" ? JSON.parse(status) : null;
  return isMap(parsed) ? parsed : undefined;
}

const SCHEMA = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** The CustomResourceDefinition of ProxyConfig, without which the API server refuses to list ProxyConfigs. */
export const PROXY_CONFIGS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "proxyconfigs.networking.istio.io" },
  spec: {
    group: "networking.istio.io",
    names: { kind: "ProxyConfig", plural: "proxyconfigs", singular: "proxyconfig", listKind: "ProxyConfigList" },
    scope: "Namespaced",
    versions: [{ name: "v1beta1", served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } }],
  },
};

/**
 * A foreign webhook that the API server calls after the injector. It calls webhooks in the order of their
 * configurations' names.
 */
export function laterWebhook(name: string, port: number, authority: string): ValueMap {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "later" },
    webhooks: [{
      name,
      clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: btoa(authority) },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      namespaceSelector: { matchLabels: { "istio-injection": "enabled" } },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    }],
  };
}
