/** The control plane of test/e2e/servers/controlplane as a process, and its admin interface. */
import { goProgram } from "../../../support/programs/go_program.ts";
import { needsProgram } from "../../../support/test_when.ts";
import { until } from "../../../support/until.ts";
import type { Namespace } from "../../iptables/support/pod.ts";

/** The reason to skip a test if the control plane cannot be built. */
export function needsControlPlane(): string | undefined {
  return needsProgram("go");
}

/** Faults of a service. */
export interface Fault {
  /** The gRPC statuses of the next calls, one each. */
  readonly codes?: readonly number[];
  readonly delayMillis?: number;
}

/** Faults to inject. A missing field means no fault. */
export interface Behaviour {
  readonly ca?: Fault;
  readonly xds?: Fault;
  /** Streams that request the name table first. */
  readonly nds?: Fault;
  readonly refuseTokens?: boolean;
  /** The lifetime of certificates, whatever is asked for. */
  readonly leafSeconds?: number;
}

/** What clients did; tokens are hashed. */
export interface Seen {
  readonly ca: readonly {
    readonly token: string;
    readonly identity: string;
    readonly code: string;
    readonly seconds: number;
    readonly key: string;
    readonly uris: readonly string[];
    readonly headers: Readonly<Record<string, string>>;
  }[];
  readonly streams: readonly {
    readonly node: string;
    readonly delta: boolean;
    readonly plain: boolean;
    readonly token: string;
    readonly identity: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly asked: readonly string[];
    readonly refused: readonly { readonly type: string; readonly reason: string }[];
    readonly health: readonly string[];
    readonly code: string;
    readonly open: boolean;
  }[];
}

/** Steps towards a new root, in this order. */
export type RootStep = "trust-both" | "sign-by-new" | "drop-old";

/** It serves TLS on 15012, plain text on 15010 and names on 53 of its namespace. */
export class ControlPlane implements AsyncDisposable {
  readonly #client: Deno.HttpClient;

  private constructor(readonly folder: string, readonly child: Deno.ChildProcess) {
    this.#client = Deno.createHttpClient({ proxy: { transport: "unix", path: `${folder}/admin` } });
  }

  static async start(namespace: Namespace): Promise<ControlPlane> {
    const program = await goProgram("test/e2e/servers/controlplane");
    const folder = await Deno.makeTempDir({ prefix: "mesh-plane-" });
    const options = ["-admin", `${folder}/admin`, "-tokens", `${folder}/tokens`, "-dns", ":53"];
    const args = [`--net=${namespace.path}`, program, ...options];
    const plane = new ControlPlane(
      folder,
      new Deno.Command("nsenter", { args, stdin: "null", stdout: "null" }).spawn(),
    );
    await plane.accept({});
    let ended: Deno.CommandStatus | undefined;
    plane.child.status.then((status) => ended = status);
    await until(async () => {
      if (ended !== undefined) throw new Error(`The control plane ended with exit code ${ended.code}`);
      return await plane.roots().then(() => true, () => false);
    }, () => "The control plane does not answer");
    return plane;
  }

  /** Replaces the tokens that are accepted: token to SPIFFE identity. */
  async accept(tokens: Readonly<Record<string, string>>): Promise<void> {
    const lines = Object.entries(tokens).map(([token, identity]) => `${token} ${identity}\n`);
    await Deno.writeTextFile(`${this.folder}/tokens.new`, lines.join(""));
    await Deno.rename(`${this.folder}/tokens.new`, `${this.folder}/tokens`);
  }

  /** Sets the faults. */
  async behave(behaviour: Behaviour): Promise<void> {
    await this.#ask("PUT", "behaviour", JSON.stringify(behaviour));
  }

  /** Waits until the service has returned all statuses of its fault. */
  async hasFailed(service: "ca" | "xds" | "nds"): Promise<void> {
    const left = async () => JSON.parse(await this.#ask("GET", "behaviour"))[service].codes ?? [];
    await until(async () => (await left()).length === 0, () => `Nobody took all statuses of ${service}`);
  }

  /** Replaces the resources of a proxy, `POD.NAMESPACE`. */
  async give(proxy: string, resources: readonly unknown[]): Promise<void> {
    await this.#ask("PUT", `resources/${proxy}`, JSON.stringify(resources));
  }

  async seen(): Promise<Seen> {
    return JSON.parse(await this.#ask("GET", "seen"));
  }

  /** The open streams; `POD.NAMESPACE` selects the streams of one proxy. */
  async openStreams(proxy = ""): Promise<Seen["streams"]> {
    return (await this.seen()).streams.filter(({ open, node }) => open && node.includes(`~${proxy}`));
  }

  /** The roots that are trusted, PEM. */
  roots(): Promise<string> {
    return this.#ask("GET", "roots");
  }

  async turnRoot(step: RootStep): Promise<void> {
    await this.#ask("POST", `root?step=${step}`);
  }

  /** Replaces its serving certificate: with istiod's names by default, from an untrusted root if `isForeign`. */
  async present(names: readonly string[] = [], isForeign = false): Promise<void> {
    const query = [...names.map((name) => ["name", name]), ["foreign", String(isForeign)]];
    await this.#ask("POST", `serving?${new URLSearchParams(query)}`);
  }

  /** Sets its clock ahead of the machine's; negative seconds set it back. */
  async setClock(seconds: number): Promise<void> {
    await this.#ask("POST", `clock?ahead=${seconds}s`);
  }

  /** Closes all connections and stops listening. */
  async shut(door: "secure" | "plain" = "secure"): Promise<void> {
    await this.#ask("POST", `door?name=${door}&open=false`);
  }

  async reopen(door: "secure" | "plain" = "secure"): Promise<void> {
    await this.#ask("POST", `door?name=${door}&open=true`);
  }

  async #ask(method: string, path: string, body?: string): Promise<string> {
    const init = { method, client: this.#client, ...(body === undefined ? {} : { body }) };
    const response = await fetch(`http://plane/${path}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
    this.child.kill("SIGTERM");
    await this.child.status;
    await Deno.remove(this.folder, { recursive: true });
  }
}
