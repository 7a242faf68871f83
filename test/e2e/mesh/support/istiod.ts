/** A real istiod as a process in the namespace of the machine: Istio's pilot-discovery, built from its public module. */
import { goProgram } from "../../../support/programs/go_program.ts";
import { needsProgram } from "../../../support/test_when.ts";
import { until } from "../../../support/until.ts";
import type { Application } from "../../agent/support/application.ts";
import { COLLECT_SELDOM } from "../../support/cluster/api_server.ts";
import type { Namespace } from "../../iptables/support/pod.ts";
import { RELEASE } from "./release.ts";

/** The folder of the Go module that names the version of Istio. */
export const ISTIO_MODULE = "test/e2e/servers/istio";

/** The program, or why it is missing. */
export interface IstiodProgram {
  readonly path: string;
  /** The reason for `testWhen`. */
  readonly missing: string | undefined;
}

let built: Promise<IstiodProgram> | undefined;

/** The istiod of the release under test. */
export function istiodProgram(): Promise<IstiodProgram> {
  return RELEASE === undefined ? checkoutIstiod() : Promise.resolve({ path: RELEASE.discovery, missing: undefined });
}

/**
 * Builds istiod on first use, if Go exists. Call it outside of tests, because the build takes minutes. Never throws.
 */
export function checkoutIstiod(): Promise<IstiodProgram> {
  const absent = needsProgram("go");
  if (absent !== undefined) return Promise.resolve({ path: "", missing: absent });
  return built ??= goProgram(ISTIO_MODULE, "istio.io/istio/pilot/cmd/pilot-discovery").then(
    (path) => ({ path, missing: undefined }),
    (error) => ({ path: "", missing: `no istiod: ${String(error).replaceAll(/\s+/g, " ").slice(-200)}` }),
  );
}

/** The port that the pods know. */
export const SECURE_PORT = 15012;

/** The offset of the ports of a second istiod. */
export const SECOND = 100;

/** What all starts of an istiod have in common. */
export interface IstiodOptions {
  readonly namespace: Namespace;
  /** A process in the namespace that sends requests. */
  readonly prober: Application;
  readonly kubeconfig: string;
  /** MeshConfig. */
  readonly mesh: { readonly defaultConfig: object };
  readonly env?: Readonly<Record<string, string>>;
  /** A program in place of the run's istiod. */
  readonly program?: string;
  /** The offset of its ports. */
  readonly offset?: number;
}

/** Options of a single start. */
export interface IstiodStart {
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Upstream Envoy rejects a listener with one of Istio's own filters, so istiod must not send them. Other variables turn
 * off what needs more than one process or more types of objects.
 */
const ENV = {
  POD_NAME: "istiod-0",
  POD_NAMESPACE: "istio-system",
  PILOT_ENABLE_METADATA_EXCHANGE: "false",
  PILOT_ENABLE_ALPN_FILTER: "false",
  PILOT_ENABLE_GATEWAY_API: "false",
  ENABLE_LEADER_ELECTION: "false",
  INJECT_ENABLED: "false",
  VALIDATION_WEBHOOK_CONFIG_NAME: "",
  ISTIO_MULTIROOT_MESH: "true",
};

/**
 * An istiod whose state outlives its process: the folder of its certificate authority, and the objects of the cluster.
 */
export class Istiod implements AsyncDisposable {
  #child: Deno.ChildProcess | undefined;
  #starts = 0;

  private constructor(readonly options: IstiodOptions, readonly program: string, readonly folder: string) {}

  /** Does not start istiod. */
  static async create(options: IstiodOptions): Promise<Istiod> {
    const path = options.program ?? (await istiodProgram()).path;
    const folder = await Deno.makeTempDir({ prefix: "mesh-istiod-" });
    await Deno.mkdir(`${folder}/cacerts`);
    await Deno.writeTextFile(`${folder}/mesh`, JSON.stringify(options.mesh));
    return new Istiod(options, path, folder);
  }

  /** Replaces the authority that signs, and the roots: the files of the Secret `cacerts`. */
  async plugIn(files: Readonly<Record<string, string>>): Promise<void> {
    // istiod reads all files a tenth of a second after the first event.
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${this.folder}/${name}.new`, text);
      await Deno.rename(`${this.folder}/${name}.new`, `${this.folder}/cacerts/${name}`);
    }
  }

  /** Starts it, and waits until it is ready. */
  async start({ port, env = {} }: IstiodStart = {}): Promise<void> {
    const { namespace, prober, kubeconfig, offset = 0 } = this.options;
    const at = (usual: number) => `:${usual + offset}`;
    const flags = [
      ...["--kubeconfig", kubeconfig, "--meshConfig", `${this.folder}/mesh`, "--clusterID", "Kubernetes"],
      ...["--httpAddr", at(18080), "--httpsAddr", at(15017), "--monitoringAddr", at(15014), "--ctrlz_port", "0"],
      ...["--grpcAddr", "", "--secureGRPCAddr", port === undefined ? at(SECURE_PORT) : `:${port}`],
    ];
    const script = `exec "$0" "$@" >${this.folder}/log.${++this.#starts} 2>&1`;
    this.#child = new Deno.Command("nsenter", {
      args: [`--net=${namespace.path}`, "sh", "-c", script, this.program, "discovery", ...flags],
      cwd: this.folder,
      env: { ...COLLECT_SELDOM, ...ENV, ROOT_CA_DIR: `${this.folder}/cacerts`, ...this.options.env, ...env },
      stdin: "null",
    }).spawn();
    let ended: Deno.CommandStatus | undefined;
    this.#child.status.then((status) => ended = status);
    const last = () => this.log().slice(-4000);
    await until(async () => {
      if (ended !== undefined) throw new Error(`istiod ended with ${ended.code}:\n${last()}`);
      return (await prober.ask(`http://127.0.0.1${at(18080)}/ready`)).status === 200;
    }, () => `istiod is never ready:\n${last()}`);
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    try {
      child?.kill("SIGKILL");
    } catch (error) {
      // It has ended by itself.
      if (!(error instanceof TypeError)) throw error;
    }
    await child?.status;
  }

  /** Suspends istiod until the next `go`. Its connections stay open. */
  stop(): void {
    this.#child?.kill("SIGSTOP");
  }

  go(): void {
    this.#child?.kill("SIGCONT");
  }

  /** The log of the last start. */
  log(): string {
    try {
      return Deno.readTextFileSync(`${this.folder}/log.${this.#starts}`);
    } catch {
      return "";
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await Deno.remove(this.folder, { recursive: true });
  }
}
