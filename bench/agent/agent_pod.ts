/** The folder, environment and programs of a pod's proxy container, for the benchmark of the agent. */

/** The paths of the programs to measure. */
export interface Programs {
  readonly agent: string;
  readonly envoy: string;
}

/** A pod whose Envoy reads clusters and listeners from files. */
export interface Pod {
  startAgent(this: void): Deno.ChildProcess;
  /** Starts Envoy alone, with the bootstrap that the agent makes. */
  startEnvoy(this: void): Deno.ChildProcess;
  remove(): Promise<void>;
}

const TYPE = "type.googleapis.com/envoy";

/** Captured connections go to their original destination. */
export const CLUSTERS = [{
  "@type": `${TYPE}.config.cluster.v3.Cluster`,
  name: "PassthroughCluster",
  type: "ORIGINAL_DST",
  lb_policy: "CLUSTER_PROVIDED",
}];

/**
 * The two listeners that receive captured traffic. `inboundSocket` adds a transport socket, such as TLS, to the inbound
 * one.
 */
export function listeners(inboundSocket?: Readonly<Record<string, unknown>>) {
  return [
    listener("virtualOutbound", 15001, {}),
    listener("virtualInbound", 15006, inboundSocket === undefined ? {} : { transport_socket: inboundSocket }),
  ];
}

function listener(name: string, port: number, chain: Readonly<Record<string, unknown>>) {
  return {
    "@type": `${TYPE}.config.listener.v3.Listener`,
    name,
    address: { socket_address: { address: "0.0.0.0", port_value: port } },
    listener_filters: [{
      name: "envoy.filters.listener.original_dst",
      typed_config: { "@type": `${TYPE}.extensions.filters.listener.original_dst.v3.OriginalDst` },
    }],
    filter_chains: [{
      ...chain,
      filters: [{
        name: "envoy.filters.network.tcp_proxy",
        typed_config: {
          "@type": `${TYPE}.extensions.filters.network.tcp_proxy.v3.TcpProxy`,
          stat_prefix: name,
          cluster: "PassthroughCluster",
        },
      }],
    }],
  };
}

const OVERRIDE = {
  dynamic_resources: {
    cds_config: { path_config_source: { path: "./cds.json" } },
    lds_config: { path_config_source: { path: "./lds.json" } },
  },
};

/** Makes a pod in a new temporary folder. */
export async function makePod({ agent, envoy }: Programs): Promise<Pod> {
  const cwd = await Deno.makeTempDir({ prefix: "mesh-bench-" });
  const files = { cds: { resources: CLUSTERS }, lds: { resources: listeners() }, override: OVERRIDE };
  for (const [name, data] of Object.entries(files)) {
    await Deno.writeTextFile(`${cwd}/${name}.json`, JSON.stringify(data));
  }
  const env = {
    POD_NAME: "bench-0",
    POD_NAMESPACE: "default",
    INSTANCE_IP: "10.9.9.9",
    CLOUD_PLATFORM: "none",
    ISTIO_BOOTSTRAP_OVERRIDE: "./override.json",
    PROXY_CONFIG: JSON.stringify({ binaryPath: envoy }),
  };
  const options = { cwd, env, stdin: "null", stderr: "null" } as const;
  const { success, stdout } = await new Deno.Command(agent, { ...options, args: ["agent", "bootstrap"] }).output();
  if (!success) throw new Error(`"${agent} agent bootstrap" failed`);
  await Deno.writeFile(`${cwd}/bootstrap.json`, stdout);
  const words = ["-c", "bootstrap.json", "--config-yaml", JSON.stringify(OVERRIDE), "--disable-hot-restart"];
  const start = (program: string, args: readonly string[]) =>
    new Deno.Command(program, { ...options, stdout: "null", args: [...args] }).spawn();
  return {
    startAgent: () => start(agent, ["agent", "sidecar"]),
    startEnvoy: () => start(envoy, [...words, "--allow-unknown-static-fields", "-l", "warning"]),
    remove: () => Deno.remove(cwd, { recursive: true }),
  };
}
