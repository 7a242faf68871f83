/** Summarizes the ports of a pod: the listening sockets, and whether connections go through the proxy. */
import { intAt, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { PROXY_PORTS } from "../../istio/configuration.ts";
import { type Fate, trace, type TracedRules } from "../../iptables/mod.ts";
import { addressOf } from "../address.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { arriving, type KernelRules, kernelRules } from "../kernel/rules.ts";
import { type ListeningSocket, listeningSockets } from "../kernel/sockets.ts";
import type { Pod } from "../pod.ts";
import type { Lane, SummaryPort, Traffic } from "./pod_summary_schema.ts";
import { lanesOf } from "./lanes.ts";

/** Returns the traffic of a snapshot. `object` is the pod from the API server, and `pod` its fields in typed form. */
export function trafficOf(snapshot: Snapshot, object: ValueMap | undefined, pod: Pod | undefined): Traffic {
  const kernel = kernelRules(snapshot, pod);
  const text = snapshot.parts["sockets.txt"].text;
  const sockets = text === undefined ? undefined : listeningSockets(text);
  const ports = portsOf(object, sockets).map((port) => portOf(port, { kernel, sockets, pod }));
  if (pod?.isHostNetwork === true) {
    const message = "the pod uses the host's network: the kernel redirects no connections";
    return { source: "seen", mode: "", message, ports, lanes: [] };
  }
  if (pod?.isAmbient === true && pod.proxy === undefined) return ofAmbient(ports);
  const { rules, source, why } = kernel;
  if (rules === undefined) {
    return { source, mode: "", message: `the kernel's rules are unknown: ${why}`, ports, lanes: [] };
  }
  if (!rules.isCaptured) {
    const message = "the pod's network has no Istio rules: no connection goes through the proxy";
    return { source, mode: "", message, ports, lanes: [] };
  }
  const { settings } = rules;
  return { source, mode: settings.mode, message: why, ports, lanes: lanesOf(settings) };
}

/** Returns the traffic with istio-cni's rules in the pod's network namespace (istio/istio, cni/pkg/iptables). */
function ofAmbient(ports: readonly SummaryPort[]): Traffic {
  const lane = (direction: Lane["direction"], port: number): Lane => {
    return { direction, path: "captured", what: "every TCP connection", message: `port ${port} of ztunnel` };
  };
  return {
    source: "planned",
    mode: "ztunnel",
    message: "ambient mode: istio-cni redirects the pod's connections to the ztunnel of its node",
    ports: ports.map((each) => ({ ...each, path: "captured", source: "planned" })),
    lanes: [lane("inbound", 15006), lane("inbound", 15008), lane("outbound", 15001)],
  };
}

/** A port that a container declares, or on which a process listens. */
type Declared = Pick<SummaryPort, "port" | "protocol" | "name" | "container">;

function portsOf(object: ValueMap | undefined, sockets: readonly ListeningSocket[] | undefined): Declared[] {
  const spec = object === undefined ? {} : mapAt(object, "spec");
  const declared = [...mapsAt(spec, "containers"), ...mapsAt(spec, "initContainers")].flatMap((container) =>
    mapsAt(container, "ports").flatMap((each): Declared[] => {
      const port = intAt(each, "containerPort");
      if (port === undefined) return [];
      const protocol = textAt(each, "protocol") || "TCP";
      return [{ port, protocol, name: textAt(each, "name"), container: textAt(container, "name") }];
    })
  );
  const others = new Set(
    (sockets ?? []).map(({ port }) => port).filter((port) => !declared.some((each) => each.port === port)),
  );
  const found = [...others].map((port): Declared => ({ port, protocol: "TCP", name: "", container: "" }));
  return [...declared, ...found].toSorted((a, b) => a.port - b.port);
}

/** The result for a port that the application declares. */
const RESULTS: Readonly<Record<SummaryPort["listens"], SummaryPort["result"]>> = {
  yes: "ok",
  loopback: "error",
  no: "error",
  unknown: "unknown",
};

interface Known {
  readonly kernel: KernelRules;
  readonly sockets: readonly ListeningSocket[] | undefined;
  readonly pod: Pod | undefined;
}

function portOf(declared: Declared, { kernel, sockets, pod }: Known): SummaryPort {
  const own = PROXY_PORTS.get(declared.port);
  const listening = listens(declared, sockets);
  if (own !== undefined) {
    return { ...declared, path: "proxy", source: "seen", ...listening, result: "ok", message: own };
  }
  const path = pathOf(declared, kernel, pod);
  const isApplications = declared.container !== "" && declared.protocol === "TCP";
  const result = isApplications ? RESULTS[listening.listens] : "ok";
  return { ...declared, ...path, ...listening, result, message: messageOf(listening) };
}

type Listens = Pick<SummaryPort, "listens" | "address">;

function listens({ port, protocol }: Declared, sockets: readonly ListeningSocket[] | undefined): Listens {
  if (sockets === undefined || protocol !== "TCP") return { listens: "unknown", address: "" };
  const found = sockets.filter((each) => each.port === port);
  const address = found.map((each) => each.address).join(", ");
  if (found.length === 0) return { listens: "no", address };
  return { listens: found.every(({ isLoopback }) => isLoopback) ? "loopback" : "yes", address };
}

/**
 * Describes the socket. Envoy connects to the pod's address, and a loopback socket does not accept such a connection
 * (istio/istio#29940).
 */
function messageOf({ listens, address }: Listens): string {
  return {
    yes: `listens on ${address}`,
    loopback: `listens only on ${address}, to which Envoy does not connect`,
    no: "no process listens",
    unknown: "it is unknown whether a process listens",
  }[listens];
}

function pathOf(
  { port, protocol }: Declared,
  kernel: KernelRules,
  pod: Pod | undefined,
): Pick<SummaryPort, "path" | "source"> {
  if (pod?.isHostNetwork === true || protocol !== "TCP") return { path: "bypasses", source: "seen" };
  if (kernel.rules === undefined) return { path: "unknown", source: "unknown" };
  const { kind } = fateOf(kernel.rules, port, pod);
  const path = kind === "pass" ? "bypasses" : kind === "redirect" || kind === "tproxy" ? "captured" : "unknown";
  return { path, source: kernel.source };
}

/** Addresses of a simulated client. No rule contains them, because they are for documentation only (RFC 5737). */
const CLIENT = "192.0.2.1";
const SERVER = "192.0.2.2";

function fateOf({ rules }: TracedRules, port: number, pod: Pod | undefined): Fate {
  const own = pod?.addresses.find((address) => !address.includes(":")) ?? SERVER;
  return trace(rules, arriving({ family: 4, source: addressOf(CLIENT), destination: addressOf(own), port })).fate;
}
