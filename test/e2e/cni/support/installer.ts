/** Runs `iptables cni install` as a process. */
import { MESH_COMMAND } from "../../../support/programs/mesh.ts";
import type { CniNode } from "./node.ts";

/** The data that a pod has to access an API server. */
export interface ApiAccess {
  readonly port: number;
  /** The certificate of the authority, PEM. */
  readonly authority: string;
  readonly token?: string;
}

/** A running installer. */
export class Installer implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<void>;
  /** The log so far. */
  log = "";
  #hasEnded = false;

  private constructor(readonly port: number, child: Deno.ChildProcess) {
    this.#child = child;
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) this.log += text;
    this.#hasEnded = true;
  }

  static async start(node: CniNode, api: ApiAccess, more: readonly string[] = []): Promise<Installer> {
    const { args, env, port } = await installerCommand(node, api, more);
    const options = { args, env, stdin: "null", stdout: "null", stderr: "piped" } as const;
    return new Installer(port, new Deno.Command(MESH_COMMAND, options).spawn());
  }

  /** Waits until `/readyz` returns this status. Returns its text. */
  async becomes(status: number): Promise<string> {
    for (;;) {
      if (this.#hasEnded) throw new Error(`The installer has ended: ${this.log}`);
      const answer = await fetch(`http://127.0.0.1:${this.port}/readyz`).catch(() => undefined);
      const text = await answer?.text() ?? "";
      if (answer?.status === status) return text;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async metrics(): Promise<string> {
    return await (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text();
  }

  /** Sends SIGTERM and waits for the exit. Returns the exit code and the log. */
  async end(): Promise<{ readonly code: number; readonly log: string }> {
    this.#child.kill("SIGTERM");
    const { code } = await this.#child.status;
    await this.#reading;
    return { code, log: this.log };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // The process has already ended.
    }
    await this.#child.status;
    await this.#reading;
  }
}

/**
 * The command line and environment of an installer in a pod. This machine is the node, unless the test has made a
 * different one.
 */
export async function installerCommand({ folder }: CniNode, api: ApiAccess, more: readonly string[] = []) {
  await Deno.writeTextFile(`${folder}/account/ca.crt`, api.authority);
  await Deno.writeTextFile(`${folder}/account/token`, api.token ?? "first-token");
  await Deno.mkdir(`${folder}/proc/1`, { recursive: true });
  await Deno.symlink("/", `${folder}/proc/1/root`).catch(() => {});
  const [port, metrics] = [freePort(), freePort()];
  const args = [
    ...["iptables", "cni", "install", "--binary", `${folder}/program`, "--host-proc", `${folder}/proc`],
    ...["--mounted-cni-bin-dir", `${folder}/bin`, "--cni-bin-dir", `${folder}/bin`],
    ...["--cni-agent-run-dir", `${folder}/run`, "--service-account", `${folder}/account`, "--node", "node-1"],
    ...["--health-listen", `127.0.0.1:${port}`, "--metrics-listen", `127.0.0.1:${metrics}`, ...more],
  ];
  const env = {
    MOUNTED_CNI_NET_DIR: `${folder}/net.d`,
    KUBERNETES_SERVICE_HOST: "127.0.0.1",
    KUBERNETES_SERVICE_PORT: String(api.port),
    POD_NAMESPACE: "mesh",
  };
  return { args, env, port };
}

function freePort(): number {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  return listener.addr.port;
}
