/** The listener station: the port on which the proxy accepts the connection, and the listener that handles it. */
import { joinHostPort } from "../../golang/net/mod.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import type { Listener } from "../envoy/listener.ts";
import { withoutProxy } from "../pod.ts";
import { boundListener, listenerFor } from "../rules/listener_search.ts";
import type { Facts } from "./facts.ts";
import { type Cause, causeOf, type Workload } from "../resources/cause.ts";
import { clauses, detailOf, passing, refusing, sentence, stationOf, type Step, unknowing } from "./connection_path.ts";

export interface Accepted {
  readonly step: Step;
  readonly listener: Listener | undefined;
}

/** The destination of the connection before the kernel redirected it. */
export interface Original {
  readonly address: string | undefined;
  readonly port: number;
}

/** Returns the listener step if Envoy's configuration is unknown. */
export function withoutConfiguration({ pod, absent, snapshot }: Facts): Step {
  if (pod === undefined || pod.proxy !== undefined) {
    return unknowing("listener", { message: absent?.message ?? "" }, WITH_PROXY);
  }
  const { message, fix } = withoutProxy(snapshot.pod.namespace || pod.namespace, snapshot.pod.name);
  return unknowing("listener", { message }, fix);
}

const WITH_PROXY = "take the snapshot while the proxy runs, or pass Envoy's config_dump.json with -f";

/** Port of the agent's DNS proxy. */
const DNS_PORT = 15053;

/** Returns the listener for a connection that the kernel redirected to `proxyPort`. */
export function acceptedBy(
  config: EnvoyConfig,
  proxyPort: number,
  original: Original,
  workload: Workload,
): Accepted {
  if (proxyPort === DNS_PORT) return { step: dnsProxy(), listener: undefined };
  const bound = boundListener(config.listeners, proxyPort);
  if (bound === undefined && !config.hasSection("ListenersConfigDump")) {
    return { step: unknowing("listener", { message: "the dump has no listeners" }, WITH_PROXY), listener: undefined };
  }
  if (bound === undefined) {
    const message = `Envoy has no listener on port ${proxyPort}${pending(config)}`;
    const fix =
      "wait until the proxy has its configuration, or check why the control plane does not send it (readiness)";
    const [refused] = config.rejected;
    const cause = refused === undefined ? undefined : writerCause(refused.why, workload);
    return { step: refusing("listener", { message }, fix, cause), listener: undefined };
  }
  const takeover = bound.handsOver ? listenerFor(config.listeners, original.address, original.port) : undefined;
  const listener = takeover?.listener ?? bound;
  return {
    step: accepting(config, bound, { listener, by: takeover?.by, destination: originalText(original), workload }),
    listener,
  };
}

/** Returns the destination as text, such as `10.96.1.1:9080`. */
export function originalText({ address, port }: Original): string {
  return address === undefined ? `an unknown address, port ${port}` : joinHostPort(address, port);
}

interface Handover {
  readonly listener: Listener;
  readonly by: keyof typeof BY | undefined;
  readonly destination: string;
  readonly workload: Workload;
}

function accepting(
  { rejected }: EnvoyConfig,
  bound: Listener,
  { listener, by, destination, workload }: Handover,
): Step {
  const refused = rejected.find(({ name }) => name === listener.name);
  const message = by === undefined || listener === bound
    ? stays(bound, destination)
    : `${bound.name} hands it over to ${listener.name}, the listener of ${BY[by]} ${destination}`;
  const step = passing("listener", {
    name: listener.name,
    result: refused === undefined ? "ok" : "warning",
    message: clauses(
      message,
      refused === undefined ? "" : "Envoy rejected its newest version and keeps the previous version",
    ),
    detail: detailOf({ acceptedBy: bound.name, originalDestination: destination, rejected: refused?.why }),
  });
  return refused === undefined ? step : { ...step, cause: writerCause(refused.why, workload) };
}

/** Returns the cause of a rejected resource: an EnvoyFilter, or an expression in a Telemetry. */
function writerCause(text: string, workload: Workload): Cause {
  return causeOf("EnvoyFilter", "spec.configPatches", { by: "text", workload, text });
}

const BY = { address: "the address", wildcard: "all addresses, for" } as const;

function stays(bound: Listener, destination: string): string {
  return bound.handsOver
    ? `${bound.name} handles the connection: no listener matches ${destination}`
    : `${bound.name} handles the connection to ${destination}`;
}

function dnsProxy(): Step {
  const station = stationOf("listener", {
    source: "planned",
    message: `the agent's DNS proxy on port ${DNS_PORT} answers the query`,
  });
  return { station, end: { verdict: "reaches", reason: sentence(station.message), fix: "" } };
}

/** Returns a likely reason for an absent listener, as the end of a message. */
function pending({ warming, rejected, listeners }: EnvoyConfig): string {
  if (warming.length > 0) return `: ${warming.slice(0, 3).join(", ")} still waits for routes or secrets`;
  const [refused] = rejected;
  if (refused !== undefined) return `: it rejected ${refused.name}: ${refused.why}`;
  return listeners.length === 0 ? ": the snapshot does not contain any listeners" : "";
}
