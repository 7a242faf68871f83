/** `webhook serve` as a process. Configuration and certificate are in folders like mounted volumes. */
import { type TestCertificate, testCertificate } from "../../../support/tls/certificates.ts";
import { MESH_COMMAND } from "../../../support/programs/mesh.ts";
import { until } from "../../../support/until.ts";

/** A configuration whose template adds one label to each pod. */
export function configurationOf(label: string): string {
  return JSON.stringify({
    policy: "enabled",
    templates: { sidecar: `metadata:\n  labels:\n    config: ${label}\n` },
  });
}

/** A review of a pod. */
export function reviewOf(
  name: string,
  more: { readonly annotations?: Record<string, string>; readonly pad?: string } = {},
) {
  const metadata = { name, namespace: "shop", annotations: more.annotations ?? {} };
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: `uid-${name}`,
      kind: { group: "", version: "v1", kind: "Pod" },
      namespace: "shop",
      operation: "CREATE",
      oldObject: more.pad === undefined ? null : { pad: more.pad },
      object: {
        apiVersion: "v1",
        kind: "Pod",
        metadata,
        spec: { containers: [{ name: "app", image: "app:1", env: [{ name: "PASSWORD", value: "hunter2" }] }] },
      },
    },
  });
}

/** A folder with atomic updates, like the kubelet's for ConfigMaps and Secrets. */
export class MountedFolder {
  #version = 0;
  private constructor(readonly path: string) {}

  static async make(files: Readonly<Record<string, string>>): Promise<MountedFolder> {
    const folder = new MountedFolder(await Deno.makeTempDir());
    await folder.put(files);
    for (const name of Object.keys(files)) await Deno.symlink(`..data/${name}`, `${folder.path}/${name}`);
    return folder;
  }

  /** Makes a new version and swaps the link `..data` to it. */
  async put(files: Readonly<Record<string, string>>): Promise<void> {
    const version = `..version_${++this.#version}`;
    await Deno.mkdir(`${this.path}/${version}`);
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${this.path}/${version}/${name}`, text);
    await Deno.symlink(version, `${this.path}/..data_tmp`);
    await Deno.rename(`${this.path}/..data_tmp`, `${this.path}/..data`);
    if (this.#version > 1) await Deno.remove(`${this.path}/..version_${this.#version - 1}`, { recursive: true });
  }

  async [Symbol.asyncDispose]() {
    await Deno.remove(this.path, { recursive: true });
  }
}

interface ServerRun {
  /** The program and its first arguments. */
  readonly command: readonly string[];
  readonly flags: readonly string[];
}

/** A running webhook. */
export class WebhookServer {
  #log = "";
  #ended = false;
  readonly code: Promise<number>;
  readonly #child: Deno.ChildProcess;

  private constructor(
    { command: [program = MESH_COMMAND, ...args], flags }: ServerRun,
    readonly configuration: MountedFolder,
    readonly secret: MountedFolder,
    readonly certificate: TestCertificate,
  ) {
    const folder = (mounted: MountedFolder, flag: string, name: string) => `--${flag}=${mounted.path}/${name}`;
    this.#child = new Deno.Command(program, {
      args: [
        ...args,
        ...["webhook", "serve", "--listen=127.0.0.1:0", "--plain-listen=127.0.0.1:0"],
        ...[folder(secret, "tls-cert", "tls.crt"), folder(secret, "tls-key", "tls.key")],
        ...[folder(configuration, "inject-config", "config"), ...flags],
      ],
      env: { NO_COLOR: "1", MESH_LOG_FORMAT: "text", KUBECONFIG: "/nonexistent" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.code = this.#run();
  }

  static start(...flags: readonly string[]): Promise<WebhookServer> {
    return WebhookServer.#start({ command: [MESH_COMMAND], flags });
  }

  /** Starts a webhook with at most this many file descriptors. */
  static startWithFiles(files: number): Promise<WebhookServer> {
    const command = ["sh", "-c", `ulimit -n ${files}; exec "$0" "$@"`, MESH_COMMAND];
    return WebhookServer.#start({ command, flags: [] });
  }

  static async #start(run: ServerRun): Promise<WebhookServer> {
    const certificate = testCertificate();
    const configuration = await MountedFolder.make({ config: configurationOf("one") });
    const secret = await MountedFolder.make(secretOf(certificate));
    const server = new WebhookServer(run, configuration, secret, certificate);
    await server.said(/Serving reviews on port/);
    return server;
  }

  async #run(): Promise<number> {
    const decoder = new TextDecoder();
    for await (const piece of this.#child.stderr) this.#log += decoder.decode(piece, { stream: true });
    const { code } = await this.#child.status;
    this.#ended = true;
    return code;
  }

  /** Its log so far. */
  get log(): string {
    return this.#log;
  }

  get pid(): number {
    return this.#child.pid;
  }

  get port(): number {
    return Number(/reviews on port (\d+)/.exec(this.#log)?.[1]);
  }

  get url(): string {
    return `https://localhost:${this.port}`;
  }

  /** The URL of the port for probes and metrics. */
  get plainUrl(): string {
    return `http://127.0.0.1:${/probes and metrics on port (\d+)/.exec(this.#log)?.[1]}`;
  }

  /** Waits until its log matches. */
  async said(pattern: RegExp): Promise<void> {
    await until(() => pattern.test(this.#log) || this.#ended, () => `It never said ${pattern}, but:\n${this.#log}`);
    if (!pattern.test(this.#log)) throw new Error(`It ended without ${pattern}:\n${this.#log}`);
  }

  signal(name: "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGKILL"): void {
    this.#child.kill(name);
  }

  /** A client that trusts it and keeps connections. */
  client(certificate: TestCertificate = this.certificate): Deno.HttpClient {
    return Deno.createHttpClient({ caCerts: [certificate.authority] });
  }

  /** The text of a path on the plain port. */
  async page(path: string): Promise<string> {
    return await (await fetch(this.plainUrl + path)).text();
  }

  async [Symbol.asyncDispose]() {
    if (!this.#ended) this.signal("SIGKILL");
    await this.code;
    await this.configuration[Symbol.asyncDispose]();
    await this.secret[Symbol.asyncDispose]();
  }
}

/** The files of a Secret of the type kubernetes.io/tls. */
export function secretOf({ certificate, key }: TestCertificate) {
  return { "tls.crt": certificate, "tls.key": key };
}

/** The answer to a review. */
export interface Answered {
  readonly status: number;
  readonly text: string;
  /** The operations of the patch as text; empty without a patch. */
  readonly patch: string;
}

/** Sends a review. */
export async function review(server: WebhookServer, client: Deno.HttpClient, body: string): Promise<Answered> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${server.url}/inject`, { client, method: "POST", headers, body });
  const text = await response.text();
  const patch = /"patch":"([^"]*)"/.exec(text)?.[1] ?? "";
  return { status: response.status, text, patch: atob(patch) };
}
