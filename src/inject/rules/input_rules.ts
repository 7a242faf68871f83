/** Rules that compare objects of one input: Services and the pods that they select, Namespaces and their pods. */
import { intAt, isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { allContainers, labelsOf, metadataOf, type Pod, specOf } from "../pod/pod.ts";
import { type Level, securedParts, violationsOf } from "./pod_security.ts";
import type { Problem, RuleHead } from "./rule.ts";

/** Identifies an object in the report. */
export interface Described {
  readonly file: string;
  readonly document: number;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** An object of the input. `add` extracts the parts that rules need, and does not keep the object. */
export interface InputObject {
  readonly described: Described;
  readonly manifest: ValueMap;
  /** The injected pod of a workload, with its path in the manifest. Absent if the pod is not injected. */
  readonly injected?: { readonly pod: Pod; readonly path: readonly string[] } | undefined;
  /** Rules that the object's annotations turn off. */
  readonly off: ReadonlySet<string>;
  readonly lineOf: (field: string) => number | undefined;
}

export interface About {
  readonly described: Described;
  readonly off: ReadonlySet<string>;
}

/** A rule that compares objects. `about` of each problem is the object that contains the field. */
interface InputRule extends RuleHead {
  /** `selected`: each workload with the Services that select its pods. */
  readonly problems: (selected: readonly Selected[], facts: InputFacts) => readonly InputProblem[];
}

export type InputProblem = Problem & { readonly about: About; readonly line: number | undefined };

interface ServiceFacts {
  /** Number of the Service in the input. */
  readonly place: number;
  readonly about: About;
  readonly selector: ValueMap;
  readonly ports: readonly ServicePort[];
}

interface ServicePort {
  readonly field: string;
  readonly line: number | undefined;
  readonly name: string;
  readonly port: number;
  readonly target: string;
  readonly transport: string;
  /** The protocol that Istio selects for the port; `undefined` if Istio detects the protocol from the traffic. */
  readonly protocol: string | undefined;
}

interface WorkloadFacts {
  readonly about: About;
  readonly field: string;
  readonly line: number | undefined;
  readonly labels: ValueMap;
  /** Port numbers by name. */
  readonly ports: ReadonlyMap<string, number>;
  readonly secured: Pod;
}

/** Extracts the parts that the rules read, one object at a time. */
export class InputFacts {
  readonly services: ServiceFacts[] = [];
  readonly workloads: WorkloadFacts[] = [];
  readonly levels = new Map<string, Level>();

  add(object: InputObject): void {
    const { manifest, injected, described, off, lineOf } = object;
    if (injected !== undefined) {
      const { pod, path } = injected;
      const named = allContainers(pod).flatMap((each) => mapsAt(each, "ports")).map((port) =>
        [textAt(port, "name"), intAt(port, "containerPort") ?? 0] as const
      );
      const field = [...path, "spec"].join(".");
      const facts = { about: { described, off }, field, line: lineOf(field), secured: securedParts(pod) };
      this.workloads.push({ ...facts, labels: labelsOf(pod), ports: new Map(named) });
    }
    if (manifest["apiVersion"] !== "v1") return;
    if (manifest["kind"] === "Service") {
      const ports = mapsAt(specOf(manifest), "ports").map((port, index) => {
        const field = `spec.ports[${index}]`;
        return servicePort(port, field, lineOf(field));
      });
      const selector = mapAt(specOf(manifest), "selector");
      this.services.push({ place: this.services.length, about: { described, off }, selector, ports });
    }
    const level = labelsOf(manifest)["pod-security.kubernetes.io/enforce"];
    if (manifest["kind"] === "Namespace" && (level === "baseline" || level === "restricted")) {
      this.levels.set(textAt(metadataOf(manifest), "name"), level);
    }
  }
}

function servicePort(port: ValueMap, field: string, line: number | undefined): ServicePort {
  const number = intAt(port, "port") ?? 0;
  const target = port["targetPort"] ?? number;
  const transport = textAt(port, "protocol") || "TCP";
  const name = textAt(port, "name");
  return {
    field,
    line,
    name,
    port: number,
    target: isMap(target) ? "" : String(target),
    transport,
    protocol: transport === "UDP" ? "udp" : protocolOf(textAt(port, "appProtocol") || name, number),
  };
}

/** Prefixes of port names that select a protocol. Source: Istio, "Protocol Selection", and pkg/config/protocol. */
const PROTOCOLS = [
  "http",
  "http2",
  "https",
  "tcp",
  "tls",
  "grpc",
  "grpc-web",
  "mongo",
  "mysql",
  "redis",
  "udp",
  "hbone",
  "double-hbone",
];
/** Ports that Istio treats as TCP unless the name selects a protocol (pkg/config/kube, wellKnownPorts). */
const SERVER_FIRST = [25, 53, 3306, 27017];
/** Kubernetes' standard values of `appProtocol` (KEP-3726), with the protocol that Istio selects. */
const APP_PROTOCOLS: ReadonlyMap<string, string> = new Map([
  ["kubernetes.io/h2c", "http2"],
  ["kubernetes.io/ws", "http"],
  ["kubernetes.io/wss", "https"],
]);

function protocolOf(name: string, port: number): string | undefined {
  const known = APP_PROTOCOLS.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (lower === "grpc-web" || lower.startsWith("grpc-web-")) return "grpc-web";
  const [prefix = ""] = lower.split("-", 1);
  if (PROTOCOLS.includes(prefix)) return prefix;
  return SERVER_FIRST.includes(port) ? "tcp" : undefined;
}

/** The protocol at the start of a name that lacks the dash after the protocol, such as `http_web`, `grpcapi` or `http2x`. */
function nearProtocol(name: string): string | undefined {
  return PROTOCOLS.toSorted((a, b) => b.length - a.length).find((each) => name.toLowerCase().startsWith(each));
}

interface Selected {
  readonly workload: WorkloadFacts;
  readonly services: readonly ServiceFacts[];
}

/** Maximum number of Services that select one workload. If there are more, they are not compared. */
const MAX_SERVICES = 50;
/** Maximum number of ports of a Service that are compared with one port of another Service. */
const MAX_PORTS = 100;

/** Matches Services with workloads. An index by the first label of each Service's selector avoids comparing all pairs. */
export function selectedIn({ services, workloads }: InputFacts): readonly Selected[] {
  const byLabel = Map.groupBy(services.filter(({ selector }) => Object.keys(selector).length > 0), (service) => {
    const [[key, value] = ["", null]] = Object.entries(service.selector);
    return indexKey(service, key, String(value));
  });
  return workloads.map((workload) => {
    const labels = Object.entries(workload.labels);
    const candidates = labels.flatMap(([key, value]) => byLabel.get(indexKey(workload, key, String(value))) ?? []);
    return {
      workload,
      services: candidates.filter(({ selector }) =>
        Object.entries(selector).every(([key, value]) => workload.labels[key] === value)
      ),
    };
  });
}

function indexKey({ about }: { readonly about: About }, key: string, value: string): string {
  return JSON.stringify([about.described.namespace, key, value]);
}

export const INPUT_RULES: readonly InputRule[] = [
  {
    id: "port-name",
    severity: "warning",
    istio: "IST0118",
    title: "The name of a Service's port does not select a protocol, so the proxy detects it from the traffic",
    problems: (selected) =>
      [...new Set(selected.flatMap(({ services }) => services))].flatMap(({ about, ports }) =>
        ports.filter(({ protocol }) => protocol === undefined).map(({ field, line, name, port }): InputProblem => {
          const near = nearProtocol(name);
          const guess = "the proxy detects the protocol from the traffic";
          if (near === undefined) {
            const what = name === "" ? `The port ${port} has no name` : `The name "${name}" of the port ${port}`;
            const message = `${what}${name === "" ? "" : " does not select a protocol"}, so ${guess}`;
            const fix = 'use a name such as "http-web", or set appProtocol';
            return { about, field, line, message, fix, severity: "note" };
          }
          const message =
            `The name "${name}" of the port ${port} starts with "${near}" without a following "-", so ${guess}`;
          const fix = `rename the port to "${near}-${port}", or set appProtocol`;
          return { about, field: `${field}.name`, line, message, fix };
        })
      ),
  },
  {
    id: "service-protocol",
    severity: "error",
    istio: "IST0116",
    title: "Two Services select the same pods and disagree about the protocol of a port",
    problems: (selected) =>
      pairsOf(selected, (one, other, workload) => {
        const same = numberOf(one, workload) === numberOf(other, workload) && one.transport === other.transport;
        const known = one.protocol !== undefined && other.protocol !== undefined;
        const disagree = one.port === other.port && one.transport !== other.transport && !isDns(one);
        return disagree || (same && known && isHttp(one) !== isHttp(other));
      }, (one, other, { first, second }) => ({
        message:
          `The Services "${one}" and "${other}" select the same pods, but set different protocols for one port: ` +
          `${protocolText(first, second)} and ${protocolText(second, first)}`,
        fix: "set the same protocol in both Services",
      })),
  },
  {
    id: "service-port",
    severity: "note",
    istio: "IST0137",
    title: "Two Services select the same pods and map different ports to one port of the pods",
    problems: (selected) =>
      pairsOf(
        selected,
        (one, other, workload) =>
          numberOf(one, workload) === numberOf(other, workload) && one.transport === other.transport &&
          one.port !== other.port,
        (one, other, { first, second }) => ({
          message: `The Services "${one}" and "${other}" select the same pods, and map the ports ${first.port} and ` +
            `${second.port} to the same pod port ${first.target}`,
          fix: "use one port, unless clients need both",
        }),
      ),
  },
  {
    id: "pod-security-enforced",
    severity: "error",
    title: "The namespace enforces a Pod Security level that the injected pod does not meet",
    problems: (_, { workloads, levels }) =>
      workloads.flatMap(({ about, field, line, secured }) => {
        const { namespace } = about.described;
        const level = levels.get(namespace);
        const broken = level === undefined ? [] : violationsOf(secured, level);
        return broken.length === 0 ? [] : [{
          ...{ about, field, line },
          message: `The namespace "${namespace}" enforces the Pod Security level "${level}", but ${broken.join("; ")}`,
          fix: "inject with --fit restricted, in a cluster with Istio's CNI plugin",
        }];
      }),
  },
];

interface Pair {
  readonly first: ServicePort;
  readonly second: ServicePort;
}

/** Returns a problem for each pair of Services that has two disagreeing ports. The problem is about the second Service. */
function pairsOf(
  selected: readonly Selected[],
  disagree: (one: ServicePort, other: ServicePort, workload: WorkloadFacts) => boolean,
  text: (one: string, other: string, pair: Pair) => Pick<Problem, "message" | "fix">,
): readonly InputProblem[] {
  const found = new Map<string, InputProblem>();
  for (const [one, other, workload] of servicePairs(selected)) {
    const alike = portsLike(other, workload);
    for (const first of one.ports) {
      const second = alike(first).find((each) => disagree(first, each, workload));
      if (second === undefined) continue;
      const said = text(one.about.described.name, other.about.described.name, { first, second });
      found.set(said.message, { about: other.about, field: second.field, line: second.line, ...said });
    }
  }
  return [...found.values()];
}

/**
 * Returns a function that takes a port, and finds the Service's ports with the same number or the same pod port, in
 * order.
 */
function portsLike({ ports }: ServiceFacts, workload: WorkloadFacts): (port: ServicePort) => readonly ServicePort[] {
  const all = ports.map((port, place) => ({ port, place }));
  const byTarget = Map.groupBy(all, ({ port }) => numberOf(port, workload));
  const byNumber = Map.groupBy(all, ({ port }) => port.port);
  return (port) => {
    const like = [byTarget.get(numberOf(port, workload)) ?? [], byNumber.get(port.port) ?? []];
    const found = new Set(like.flatMap((list) => list.slice(0, MAX_PORTS)));
    return [...found].toSorted((a, b) => a.place - b.place).map(({ port: each }) => each);
  };
}

/** Returns each pair of Services that select the same workload. Workloads with the same Services are compared once. */
function servicePairs(
  selected: readonly Selected[],
): readonly (readonly [ServiceFacts, ServiceFacts, WorkloadFacts])[] {
  const several = selected.filter(({ services }) => services.length > 1 && services.length <= MAX_SERVICES);
  const bySet = Map.groupBy(several, ({ services }) => services.map(({ place }) => place).join());
  return [...bySet.values()].flatMap(([first]) => first ?? []).flatMap(({ services, workload }) =>
    services.flatMap((one, index) => services.slice(index + 1).map((other) => [one, other, workload] as const))
  );
}

/** The number of the pod port to which a Service's port is mapped. Resolves named ports. */
function numberOf({ target }: ServicePort, { ports }: WorkloadFacts): string {
  return String(ports.get(target) ?? target);
}

/** Describes a port by its transport if the transports differ, otherwise by its protocol. */
function protocolText({ transport, protocol, port }: ServicePort, other: ServicePort): string {
  return `${transport === other.transport ? protocol : transport} (port ${port})`;
}

/** Whether the port is DNS, which legitimately uses both TCP and UDP. */
function isDns({ port }: ServicePort): boolean {
  return port === 53;
}

function isHttp({ protocol = "" }: ServicePort): boolean {
  return /^(http2?|grpc(-web)?)$/.test(protocol);
}
