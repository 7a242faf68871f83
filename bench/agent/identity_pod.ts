/**
 * A pod with an identity and a control plane, for benchmarks: its folder, its environment, and the resources that
 * istiod would send.
 */
import { CLUSTERS, listeners } from "./agent_pod.ts";
import { sdsSecret } from "../../test/support/agent/sds_secret.ts";

/** The paths of the programs to measure, and of the control plane. */
export interface Programs {
  readonly agent: string;
  readonly envoy: string;
  readonly controlPlane: string;
}

/** A pod with a running control plane. */
export interface MeshPod {
  /** Starts the agent with additional variables. Each start requests a new certificate. */
  startAgent(this: void, env?: Readonly<Record<string, string>>): Deno.ChildProcess;
  /** Whether a certificate has been written to the folder of `OUTPUT_CERTS`. */
  hasCertificate(this: void): boolean;
  /** Removes that certificate. */
  forgetCertificate(this: void): Promise<void>;
  remove(this: void): Promise<void>;
}

/** The folder for the agent's certificate, in the variable `OUTPUT_CERTS`. */
export const OUTPUT = "./output";

const TLS = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3";

/** Connections from the mesh use mutual TLS. Envoy opens the listener when it has the secrets. */
const MUTUAL_TLS = {
  name: "tls",
  typed_config: {
    "@type": `${TLS}.DownstreamTlsContext`,
    require_client_certificate: true,
    common_tls_context: {
      tls_certificate_sds_secret_configs: [sdsSecret("default")],
      validation_context_sds_secret_config: sdsSecret("ROOTCA"),
    },
  },
};

/** Makes the pod and starts the control plane. The host name `istiod.istio-system.svc` must resolve to this machine. */
export async function makeMeshPod({ agent, envoy, controlPlane }: Programs): Promise<MeshPod> {
  const cwd = await Deno.makeTempDir({ prefix: "mesh-bench-" });
  const admin = `${cwd}/admin`;
  await Deno.writeTextFile(`${cwd}/tokens`, "token spiffe://cluster.local/ns/default/sa/bench\n");
  const plane = new Deno.Command(controlPlane, {
    args: [`--admin=${admin}`, `--tokens=${cwd}/tokens`],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  // The control plane prints one word when it is ready, and nothing else.
  await plane.stdout.getReader().read();
  const ask = asker(admin);
  await ask("PUT", "/resources/bench-0.default", JSON.stringify([...CLUSTERS, ...listeners(MUTUAL_TLS)]));
  await write(`${cwd}/var/run/secrets/istio`, "root-cert.pem", await ask("GET", "/roots"));
  await write(`${cwd}/var/run/secrets/tokens`, "istio-token", "token");
  const env = {
    POD_NAME: "bench-0",
    POD_NAMESPACE: "default",
    SERVICE_ACCOUNT: "bench",
    INSTANCE_IP: "10.9.9.9",
    CLOUD_PLATFORM: "none",
    ISTIO_META_CLUSTER_ID: "Kubernetes",
    PROXY_CONFIG: JSON.stringify({ binaryPath: envoy }),
  };
  const outputs = { stdin: "null", stdout: "null", stderr: "null" } as const;
  return {
    startAgent: (more = {}) =>
      new Deno.Command(agent, { cwd, args: ["agent", "sidecar"], env: { ...env, ...more }, ...outputs }).spawn(),
    hasCertificate: () => isThere(`${cwd}/${OUTPUT}/cert-chain.pem`),
    forgetCertificate: () => Deno.remove(`${cwd}/${OUTPUT}`, { recursive: true }),
    async remove() {
      plane.kill("SIGKILL");
      await plane.status;
      await Deno.remove(cwd, { recursive: true });
    },
  };
}

function asker(path: string): (method: string, url: string, body?: string) => Promise<string> {
  const client = Deno.createHttpClient({ proxy: { transport: "unix", path } });
  return async (method, url, body) => {
    const response = await fetch(`http://plane${url}`, { method, client, ...(body === undefined ? {} : { body }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
    return text;
  };
}

async function write(folder: string, name: string, text: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/${name}`, text);
}

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).size > 0;
  } catch {
    return false;
  }
}
