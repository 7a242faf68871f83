/** Starts what is between Envoy and the control plane: identity, SDS, xDS proxy, DNS. */
import { errorLine, MeshError } from "../core/errors.ts";
import { type Logger, logText } from "../core/log.ts";
import type { Collector } from "../core/metrics/mod.ts";
import type { World } from "../core/world/world.ts";
import type { RunningHealth } from "./health/reports.ts";
import { type Identity, startIdentity } from "./identity/mod.ts";
import { startSds } from "./sds/server.ts";
import type { AgentSettings } from "./settings/settings.ts";
import { FILES_SOCKET, identitySocketPath } from "./settings/pod/pod.ts";
import { controlPlaneEndpoint } from "./xds/upstream.ts";
import { startXds } from "./xds/server.ts";
import { type XdsIdentity } from "./xds/options.ts";

/** The running parts. */
export interface ControlPlane {
  /** Why Envoy may get no configuration: a line per part with a problem. */
  problems(): readonly string[];
  /** Why DNS does not answer yet; `undefined` if it does, or is not served. */
  nameProblem(): string | undefined;
  /** The name table as JSON (`/debug/ndsz`); `undefined` if there is none. */
  nameTable(): string | undefined;
  /** DNS metrics. */
  readonly collect: Collector;
  /** Closes all parts, dependents first. */
  close(): Promise<void>;
}

/** A running part, or one that failed to start. */
interface Part {
  problem(): string | undefined;
  close(): Promise<void>;
}

interface Names extends Part {
  isReady(): boolean;
  table(): string | undefined;
  readonly collect: Collector;
}

/**
 * Starts all parts before Envoy, which backs off if a socket is missing. Does not wait for certificates. A part that
 * fails to start is logged and reported by `problems`; the others work without it.
 */
export async function startControlPlane(
  world: World,
  settings: AgentSettings,
  log: Logger,
  envoyProblem: () => Promise<string | undefined>,
): Promise<ControlPlane> {
  // Another program (SPIRE) serves the certificate to Envoy alone.
  const identity = settings.bootstrap.hasCustomSds
    ? undefined
    : await startIdentity(world, { ...settings.identity, log: log.getChild("cache") });
  const health = await healthOf(world, settings, log, envoyProblem);
  const [sds, xds, dns] = await Promise.all([
    started(log, () => secretsOf(world, settings, identity, log)),
    settings.bootstrap.isXdsDirect ? undefined : started(log, () =>
      startXds(world, {
        ...settings.xds,
        identity,
        tokenFile: settings.identity.authority.tokenFile,
        reports: health,
        log: log.getChild("xdsproxy"),
      })),
    settings.dns.isServed ? started(log, () => namesOf(world, settings, identity, log)) : undefined,
  ]);
  const parts = [identity, sds, xds].filter((part) => part !== undefined);
  return {
    problems: () => parts.map((part) => part.problem()).filter((problem) => problem !== undefined),
    nameProblem: () => dns === undefined ? undefined : nameProblem(dns),
    nameTable: () => isNames(dns) ? dns.table() : undefined,
    collect: () => isNames(dns) ? dns.collect() : [],
    async close() {
      await health?.close();
      await dns?.close();
      await xds?.close();
      await sds.close();
      await identity?.close();
    },
  };
}

async function started<T extends Part>(log: Logger, start: () => Promise<T>): Promise<T | Part> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const problem = errorLine(error);
    log.error(logText(problem));
    return { problem: () => problem, close: () => Promise.resolve() };
  }
}

function secretsOf(world: World, { bootstrap }: AgentSettings, identity: Identity | undefined, log: Logger) {
  return startSds(world, {
    path: identitySocketPath(bootstrap.identitySocket),
    filesPath: FILES_SOCKET,
    identity,
    log: log.getChild("sds"),
  });
}

/** Loaded lazily: most workloads have a kubelet. */
async function healthOf(
  world: World,
  { health, bootstrap }: AgentSettings,
  log: Logger,
  envoyProblem: () => Promise<string | undefined>,
): Promise<RunningHealth | undefined> {
  if (health === undefined) return undefined;
  if (bootstrap.isXdsDirect) {
    log.warning("readinessProbe is ignored with --xds direct: Envoy connects to the control plane itself");
    return undefined;
  }
  const { startHealth } = await import("./health/reports.ts");
  return startHealth(world, { ...health, envoyProblem, log: log.getChild("healthcheck") });
}

/** Loaded lazily: most sidecars do not serve DNS. */
async function namesOf(
  world: World,
  settings: AgentSettings,
  identity: XdsIdentity | undefined,
  log: Logger,
): Promise<Names> {
  const { node, xds, namespace } = settings;
  const { nameTableJson, startDns } = await import("./dns/mod.ts");
  const { isReady, problem, table, collect, close } = await startDns(world, {
    ...settings.dns,
    namespace,
    // The fourth part of `role~address~name.namespace~domain`.
    domain: node.id.split("~")[3] ?? "",
    log: log.getChild("dns"),
    table: {
      node,
      isDelta: settings.bootstrap.deltaXds,
      endpoint: () => controlPlaneEndpoint(world, { ...xds, identity }),
      tokenFile: settings.identity.authority.tokenFile,
      headers: xds.headers,
    },
  });
  const text = () => {
    const names = table();
    return names === undefined ? undefined : nameTableJson(names);
  };
  return { isReady, problem, table: text, collect, close };
}

function isNames(part: Names | Part | undefined): part is Names {
  return part !== undefined && "table" in part;
}

function nameProblem(dns: Names | Part): string | undefined {
  if (!isNames(dns)) return dns.problem();
  return dns.isReady() ? undefined : dns.problem() ?? "the control plane has not sent the table of names yet";
}
