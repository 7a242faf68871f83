/** Rules about several objects of the same input: Services and Namespaces, and the pods that they select. */
import { intAt, isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { allContainers, labelsOf, metadataOf, type Pod } from "../pod/pod.ts";
import { type Level, securedParts, violationsOf } from "./pod_security.ts";
import type { Problem, RuleHead } from "./rule.ts";

/** What identifies an object in the report. */
export interface Described {
  readonly file: string;
  readonly document: number;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** An object of the input, which is forgotten after `add`. */
export interface InputObject {
  readonly described: Described;
  readonly manifest: ValueMap;
  /** The pod of a workload that gets a sidecar, and where it is in the manifest. */
  readonly injected?: { readonly pod: Pod; readonly path: readonly string[] } | undefined;
  /** The rules that annotations of the object switch off. */
  readonly off: ReadonlySet<string>;
  /** The line of a field. */
  readonly lineOf: (field: string) => number | undefined;
}

/** An object that rules find something about. */
export interface About {
  readonly described: Described;
  readonly off: ReadonlySet<string>;
}

/** The parts of the objects that the rules read. */
export interface Inputs {
  readonly services: readonly ServiceFacts[];
  readonly workloads: readonly WorkloadFacts[];
  /** The workloads with the Services that select them. */
  readonly selected: readonly Selected[];
  readonly levels: ReadonlyMap<string, Level>;
}

/** A rule about all objects; `about` of a problem is the object with the field. */
export interface InputRule extends RuleHead {
  readonly problems: (inputs: Inputs) => readonly InputProblem[];
}

export type InputProblem = Problem & { readonly about: About; readonly line: number | undefined };

interface ServiceFacts {
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
  /** The protocol that Istio takes it for; `undefined`: it looks at the traffic. */
  readonly protocol: string | undefined;
}

interface WorkloadFacts {
  readonly about: About;
  readonly field: string;
  readonly line: number | undefined;
  readonly labels: ValueMap;
  /** Port numbers by name. */
  readonly ports: ReadonlyMap<string, number>;
  /** The parts of the pod that Pod Security reads. */
  readonly secured: Pod;
}

/** Collects the facts, one object at a time. */
export class InputFacts implements Omit<Inputs, "selected"> {
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
    if (manifest["kind"] === "Service") this.#addService(object);
    if (manifest["kind"] === "Namespace") this.#addNamespace(manifest);
  }

  #addService({ manifest, described, off, lineOf }: InputObject): void {
    const spec = mapAt(manifest, "spec");
    const ports = mapsAt(spec, "ports").map((port, index) => {
      const field = `spec.ports[${index}]`;
      return servicePort(port, field, lineOf(field));
    });
    this.services.push({ about: { described, off }, selector: mapAt(spec, "selector"), ports });
  }

  #addNamespace(manifest: ValueMap): void {
    const level = labelsOf(manifest)["pod-security.kubernetes.io/enforce"];
    const name = textAt(metadataOf(manifest), "name");
    if (level === "baseline" || level === "restricted") this.levels.set(name, level);
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

/** Prefixes of port names. Source: Istio, "Protocol Selection", and pkg/config/protocol. */
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
/** Ports that Istio takes for TCP whatever their name is (pkg/config/kube, wellKnownPorts). */
const SERVER_FIRST = [25, 53, 3306, 27017];
/** Names of Kubernetes for protocols of applications (KEP-3726). */
const APP_PROTOCOLS: Readonly<Record<string, string>> = {
  "kubernetes.io/h2c": "http2",
  "kubernetes.io/ws": "http",
  "kubernetes.io/wss": "https",
};

function protocolOf(name: string, port: number): string | undefined {
  const known = APP_PROTOCOLS[name];
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (lower === "grpc-web" || lower.startsWith("grpc-web-")) return "grpc-web";
  const [prefix = ""] = lower.split("-", 1);
  if (PROTOCOLS.includes(prefix)) return prefix;
  return SERVER_FIRST.includes(port) ? "tcp" : undefined;
}

/** A protocol that a name begins with, without the dash that would make it count: `http_web`, `grpcapi`, `http2x`. */
function nearProtocol(name: string): string | undefined {
  return PROTOCOLS.toSorted((a, b) => b.length - a.length).find((each) => name.toLowerCase().startsWith(each));
}

/** A workload, and the Services that select it. */
interface Selected {
  readonly workload: WorkloadFacts;
  readonly services: readonly ServiceFacts[];
}

/** More Services of one workload are not compared with each other. */
const MAX_SERVICES = 50;
/** More ports of a Service for one port of the pods are not compared. */
const MAX_PORTS = 100;

/** What the rules read of the facts. Services of a workload are found by an index of each Service's first label. */
export function inputsOf({ services, workloads, levels }: InputFacts): Inputs {
  const byLabel = Map.groupBy(services.filter(({ selector }) => Object.keys(selector).length > 0), (service) => {
    const [[key, value] = ["", null]] = Object.entries(service.selector);
    return indexKey(service, key, String(value));
  });
  const selected = workloads.map((workload) => {
    const labels = Object.entries(workload.labels);
    const candidates = labels.flatMap(([key, value]) => byLabel.get(indexKey(workload, key, String(value))) ?? []);
    return {
      workload,
      services: candidates.filter(({ selector }) =>
        Object.entries(selector).every(([key, value]) => workload.labels[key] === value)
      ),
    };
  });
  return { services, workloads, selected, levels };
}

function indexKey({ about }: { readonly about: About }, key: string, value: string): string {
  return JSON.stringify([about.described.namespace, key, value]);
}

export const INPUT_RULES: readonly InputRule[] = [
  {
    id: "port-name",
    severity: "warning",
    istio: "IST0118",
    title: "The name of a Service's port names no protocol, so the proxy guesses it from the traffic",
    problems: (inputs) =>
      [...new Set(inputs.selected.flatMap(({ services }) => services))].flatMap(({ about, ports }) =>
        ports.filter(({ protocol }) => protocol === undefined).map(({ field, line, name, port }): InputProblem => {
          const near = nearProtocol(name);
          const guess = "the proxy guesses it from the traffic";
          if (near === undefined) {
            const what = name === "" ? `The port ${port} has no name` : `The name "${name}" of the port ${port}`;
            const message = `${what}${name === "" ? "" : " names no protocol"}: ${guess}`;
            const fix = 'name it such as "http-web", or set appProtocol';
            return { about, field, line, message, fix, severity: "note" };
          }
          const message = `The name "${name}" of the port ${port} begins with "${near}", but "-" must follow: ${guess}`;
          const fix = `name it "${near}-${port}", or set appProtocol`;
          return { about, field: `${field}.name`, line, message, fix };
        })
      ),
  },
  {
    id: "service-protocol",
    severity: "error",
    istio: "IST0116",
    title: "Two Services of the same pods disagree about the protocol of a port",
    problems: (inputs) =>
      pairsOf(inputs, (one, other, workload) => {
        const same = numberOf(one, workload) === numberOf(other, workload) && one.transport === other.transport;
        const known = one.protocol !== undefined && other.protocol !== undefined;
        const disagree = one.port === other.port && one.transport !== other.transport && !isDns(one);
        return disagree || (same && known && isHttp(one) !== isHttp(other));
      }, (one, other, { first, second }) => ({
        message: `The Services "${one}" and "${other}" select the same pods, and name the protocols ` +
          `${protocolText(first, second)} and ${protocolText(second, first)} for one port`,
        fix: "name the same protocol in both",
      })),
  },
  {
    id: "service-port",
    severity: "note",
    istio: "IST0137",
    title: "Two Services of the same pods have different ports for one port of the pods",
    problems: (inputs) =>
      pairsOf(
        inputs,
        (one, other, workload) =>
          numberOf(one, workload) === numberOf(other, workload) && one.transport === other.transport &&
          one.port !== other.port,
        (one, other, { first, second }) => ({
          message: `The Services "${one}" and "${other}" select the same pods, and have the ports ${first.port} and ` +
            `${second.port} for their port ${first.target}`,
          fix: "use one port, if clients need no second one",
        }),
      ),
  },
  {
    id: "pod-security-enforced",
    severity: "error",
    title: "The namespace enforces a level of Pod Security that the pod does not meet with its sidecar",
    problems: ({ workloads, levels }) =>
      workloads.flatMap(({ about, field, line, secured }) => {
        const { namespace } = about.described;
        const level = levels.get(namespace);
        const broken = level === undefined ? [] : violationsOf(secured, level);
        return broken.length === 0 ? [] : [{
          ...{ about, field, line },
          message: `The namespace "${namespace}" enforces the level "${level}" of Pod Security: ${broken.join("; ")}`,
          fix: "inject it with --fit restricted, on a cluster with Istio's CNI plugin",
        }];
      }),
  },
];

interface Pair {
  readonly first: ServicePort;
  readonly second: ServicePort;
}

/** A problem for each pair of Services of a workload with two ports that disagree; its object is the second Service. */
function pairsOf(
  inputs: Inputs,
  disagree: (one: ServicePort, other: ServicePort, workload: WorkloadFacts) => boolean,
  text: (one: string, other: string, pair: Pair) => Pick<Problem, "message" | "fix">,
): readonly InputProblem[] {
  const found = new Map<string, InputProblem>();
  for (const [one, other, workload] of servicePairs(inputs)) {
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

/** Finds the ports of a Service, in order, that have the pods' port or the own port of another Service's port. */
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

/** Each pair of Services of a workload, once for workloads with the same Services. */
function servicePairs(inputs: Inputs): readonly (readonly [ServiceFacts, ServiceFacts, WorkloadFacts])[] {
  const places = new Map(inputs.services.map((service, index) => [service, index]));
  const bySet = Map.groupBy(
    inputs.selected.filter(({ services }) => services.length > 1 && services.length <= MAX_SERVICES),
    ({ services }) => services.map((service) => places.get(service)).join(),
  );
  return [...bySet.values()].flatMap(([first]) =>
    (first?.services ?? []).flatMap((one, index, services) =>
      services.slice(index + 1).flatMap((other) => first === undefined ? [] : [[one, other, first.workload] as const])
    )
  );
}

/** The number of the pods' port. */
function numberOf({ target }: ServicePort, { ports }: WorkloadFacts): string {
  return String(ports.get(target) ?? target);
}

/** The transport if the other port has another one, else the protocol. */
function protocolText({ transport, protocol, port }: ServicePort, other: ServicePort): string {
  return `${transport === other.transport ? protocol : transport} (port ${port})`;
}

/** DNS is served over both transports. */
function isDns({ port }: ServicePort): boolean {
  return port === 53;
}

function isHttp({ protocol = "" }: ServicePort): boolean {
  return /^(http2?|grpc(-web)?)$/.test(protocol);
}
