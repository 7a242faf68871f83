/** Starts the components between Envoy and the control plane: identity, SDS, xDS proxy, DNS. */
import { errorLine, MeshError } from "../base/errors.ts";
import { type Logger, logText } from "../platform/log.ts";
import type { World } from "../platform/world.ts";
import { writeGrpcBootstrap } from "./bootstrap/grpc_bootstrap.ts";
import type { Dns } from "./dns/mod.ts";
import type { startHealth } from "./health/reports.ts";
import { type Identity, startIdentity } from "./identity/mod.ts";
import { certificateExpiry, controlPlaneMetrics } from "./metrics/control_plane_metrics.ts";
import { type SdsOptions, startSds } from "./sds/server.ts";
import type { AgentSettings } from "./settings/read.ts";
import { FILES_SOCKET, identitySocketPath } from "./settings/pod/pod.ts";
import { controlPlaneEndpoint } from "./xds/upstream.ts";
import { wasmMetrics } from "./wasm/metrics.ts";
import { startXds } from "./xds/server.ts";

type Part = Pick<Dns, "problem" | "close"> & Partial<Dns>;

export type ControlPlane = Awaited<ReturnType<typeof startControlPlane>>;

/**
 * Starts all components. Call this before Envoy starts, because Envoy backs off if a socket is missing. Does not wait
 * for certificates. If a component fails, logs the failure and reports the failure in `problems`; the other components
 * keep working.
 */
export async function startControlPlane(
  world: World,
  settings: AgentSettings,
  log: Logger,
  envoyProblem: () => Promise<string | undefined>,
) {
  const [metrics, wasm] = [controlPlaneMetrics(), wasmMetrics()];
  // With custom SDS, another program (SPIRE) serves the certificate, and only to Envoy.
  const identity = settings.bootstrap.hasCustomSds
    ? undefined
    : await startIdentity(world, { ...settings.identity, log: log.getChild("cache"), metrics });
  const health = await healthOf(world, settings, log, envoyProblem);
  const names = settings.dns.isServed ? started(log, () => dnsOf(world, settings, identity, log)) : undefined;
  const grpc = await grpcBootstrapOf(world, settings, log);
  const isXdsServed = !settings.bootstrap.isXdsDirect || settings.xds.grpcBootstrap !== "";
  const [sds, xds, dns] = await Promise.all([
    started(log, () => sdsOf(world, settings, { identity, log: log.getChild("sds"), metrics })),
    isXdsServed
      ? started(log, () =>
        startXds(world, {
          ...settings.xds,
          identity,
          tokenFile: settings.identity.authority.tokenFile,
          reports: health,
          log: log.getChild("xdsproxy"),
          // Reconnect the stream of the name table at once, because the pod is not ready without a table. The stream's
          // own delay may be half a minute.
          connected: () => void names?.then((dns) => dns.retry?.()),
          metrics,
          wasm: settings.xds.wasm && { ...settings.xds.wasm, log: log.getChild("wasm"), metrics: wasm },
        }))
      : undefined,
    names,
  ]);
  const parts = [identity, sds, xds].filter((part) => part !== undefined);
  return {
    /** Returns one line for each problem that can leave Envoy without a configuration. */
    problems: () => parts.map((part) => part.problem()).filter((problem) => problem !== undefined),
    /** Returns why DNS does not answer yet; `undefined` if DNS answers, or is not served. */
    nameProblem(): string | undefined {
      if (dns === undefined || dns.isReady?.() === true) return undefined;
      return dns.problem() ?? "the control plane has not sent the name table yet";
    },
    grpcProblem: async () => await grpc?.problem(),
    nameTable: () => dns?.tableJson?.(),
    collect: async () => [
      ...metrics.collect(),
      ...wasm.collect(),
      certificateExpiry(identity?.workload()?.certificate, world.clock.now()),
      ...await dns?.collect?.() ?? [],
    ],
    async close(): Promise<void> {
      await health?.close();
      await dns?.close();
      await xds?.close();
      await sds.close();
      await identity?.close();
    },
  };
}

async function grpcBootstrapOf({ files }: World, { xds, node, identity }: AgentSettings, log: Logger) {
  const { grpcBootstrap: file, path: socket } = xds;
  if (file === "") return undefined;
  return await writeGrpcBootstrap(files, { file, node, socket, certificates: identity.outputFolder, log });
}

function sdsOf(
  world: World,
  { bootstrap }: AgentSettings,
  shared: Pick<SdsOptions, "identity" | "log" | "metrics">,
): Promise<Part> {
  const path = shared.identity === undefined ? FILES_SOCKET : identitySocketPath(bootstrap.identitySocket);
  return startSds(world, { ...shared, path });
}

async function started(log: Logger, start: () => Promise<Part>): Promise<Part> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const problem = errorLine(error);
    log.error(logText(problem));
    return { problem: () => problem, close: () => Promise.resolve() };
  }
}

/** Starts the health checks. Imports the module lazily: most workloads are probed by a kubelet instead. */
async function healthOf(
  world: World,
  { health, bootstrap }: AgentSettings,
  log: Logger,
  envoyProblem: () => Promise<string | undefined>,
): Promise<ReturnType<typeof startHealth> | undefined> {
  if (health === undefined) return undefined;
  if (bootstrap.isXdsDirect) {
    log.warning("readinessProbe is ignored with --xds direct: Envoy connects to the control plane itself");
    return undefined;
  }
  const { startHealth } = await import("./health/reports.ts");
  return startHealth(world, { ...health, envoyProblem, log: log.getChild("healthcheck") });
}

/** Starts DNS. Imports the module lazily: most sidecars do not serve DNS. */
async function dnsOf(
  world: World,
  { dns, node, xds, namespace, identity: { authority } }: AgentSettings,
  identity: Identity | undefined,
  log: Logger,
): Promise<Dns> {
  const { startDns } = await import("./dns/mod.ts");
  return await startDns(world, {
    ...dns,
    namespace,
    // The domain is the fourth part of `role~address~name.namespace~domain`.
    domain: node.id.split("~")[3] ?? "",
    log: log.getChild("dns"),
    table: {
      node,
      endpoint: () => controlPlaneEndpoint(world, { ...xds, identity }),
      tokenFile: authority.tokenFile,
      headers: xds.headers,
    },
  });
}
