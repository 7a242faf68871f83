/** The listener station: the port on which the proxy accepts the connection, and the listener that handles it. */
import { joinHostPort } from "../../golang/net/mod.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import type { Listener } from "../envoy/listener.ts";
import { withoutProxy } from "../pod.ts";
import { boundListener, listenerFor } from "../rules/listener_search.ts";
import type { Facts } from "./facts.ts";
import { type Workload, writerCause } from "../resources/cause.ts";
import {
  clauses,
  type ConnectionPath,
  detailOf,
  ending,
  passing,
  refusing,
  type Step,
  unknowing,
} from "./connection_path.ts";

/** The destination of the connection before the kernel redirected it. */
export interface Original {
  readonly address: string | undefined;
  readonly port: number;
}

/** The listener that handles a connection, and the original destination of the connection. */
export interface Inside {
  readonly facts: Facts;
  readonly config: EnvoyConfig;
  readonly listener: Listener;
  readonly original: Original;
}

/** Adds the station of the proxy's port. Returns `undefined` if the connection ends there. */
export function throughPort(
  path: ConnectionPath,
  facts: Facts,
  proxyPort: number,
  original: Original,
): Inside | undefined {
  const { config, workload } = facts;
  if (config === undefined) {
    path.add(withoutConfiguration(facts));
    return undefined;
  }
  const { step, listener } = acceptedBy(config, proxyPort, original, workload);
  return path.add(step) && listener !== undefined ? { facts, config, listener, original } : undefined;
}

function withoutConfiguration({ pod, absent, snapshot }: Facts): Step {
  if (pod === undefined || pod.proxy !== undefined) {
    return unknowing("listener", { message: absent?.message ?? "" }, WITH_PROXY);
  }
  const { message, fix } = withoutProxy(snapshot.pod.namespace || pod.namespace, snapshot.pod.name);
  return unknowing("listener", { message }, fix);
}

const WITH_PROXY = "take the snapshot while the proxy runs, or pass Envoy's config_dump.json with -f";

/** Port of the agent's DNS proxy. */
const DNS_PORT = 15053;

function acceptedBy(
  config: EnvoyConfig,
  proxyPort: number,
  original: Original,
  workload: Workload,
): { readonly step: Step; readonly listener?: Listener } {
  if (proxyPort === DNS_PORT) {
    const message = `the agent's DNS proxy on port ${DNS_PORT} answers the query`;
    return { step: ending("listener", { source: "planned", message }, { verdict: "reaches", fix: "" }) };
  }
  const bound = boundListener(config.listeners, proxyPort);
  if (bound === undefined && !config.hasSection("ListenersConfigDump")) {
    return { step: unknowing("listener", { message: "the dump has no listeners" }, WITH_PROXY) };
  }
  if (bound === undefined) {
    const message = `Envoy has no listener on port ${proxyPort}${pending(config)}`;
    const fix =
      "wait until the proxy has its configuration, or check why the control plane does not send it (readiness)";
    const [refused] = config.rejected;
    const cause = refused === undefined ? undefined : writerCause(refused.why, workload);
    return { step: refusing("listener", { message }, fix, cause) };
  }
  return accepting(config, bound, original, workload);
}

/** Returns the listener step of the port's listener, or of the listener to which it hands the connection over. */
function accepting(config: EnvoyConfig, bound: Listener, original: Original, workload: Workload) {
  const takeover = bound.handsOver ? listenerFor(config.listeners, original.address, original.port) : undefined;
  const listener = takeover?.listener ?? bound;
  const destination = originalText(original);
  const message = takeover === undefined || listener === bound
    ? stays(bound, destination)
    : `${bound.name} hands it over to ${listener.name}, the listener of ${BY[takeover.by]} ${destination}`;
  const refused = config.rejected.find(({ name }) => name === listener.name);
  const detail = detailOf({ acceptedBy: bound.name, originalDestination: destination, rejected: refused?.why });
  const parts = { name: listener.name, message, detail };
  if (refused === undefined) return { step: passing("listener", parts), listener };
  const warning = clauses(message, "Envoy rejected its newest version and keeps the previous version");
  const step = passing("listener", { ...parts, result: "warning", message: warning });
  return { step: { ...step, cause: writerCause(refused.why, workload) }, listener };
}

/** Returns the destination as text, such as `10.96.1.1:9080`. */
export function originalText({ address, port }: Original): string {
  return address === undefined ? `an unknown address, port ${port}` : joinHostPort(address, port);
}

const BY = { address: "the address", wildcard: "all addresses, for" } as const;

function stays(bound: Listener, destination: string): string {
  return bound.handsOver
    ? `${bound.name} handles the connection: no listener matches ${destination}`
    : `${bound.name} handles the connection to ${destination}`;
}

/** Returns a likely reason for an absent listener, as the end of a message. */
function pending({ warming, rejected, listeners }: EnvoyConfig): string {
  if (warming.length > 0) return `: ${warming.slice(0, 3).join(", ")} still waits for routes or secrets`;
  const [refused] = rejected;
  if (refused !== undefined) return `: it rejected ${refused.name}: ${refused.why}`;
  return listeners.length === 0 ? ": the snapshot does not contain any listeners" : "";
}
