import { MeshError } from "../../base/errors.ts";
import { isQuantity } from "../../kube/mod.ts";
import { parseBool } from "../../golang/go_bool.ts";
import {
  goTrim,
  interfaceNameProblem,
  parseCidrList,
  parsePort,
  parsePortList,
  parseUint,
} from "../../golang/net/mod.ts";
import type { Era } from "../era.ts";
import { proxyConfigProblems } from "../read/parse.ts";
import { ANNOTATION } from "./names.ts";

interface Check {
  /** Description of valid values. It follows "must be" in messages. */
  readonly wanted: string;
  /** Returns why a value is invalid, `""` if `wanted` says enough, or `undefined` for a valid value. */
  readonly problem: (value: string, era: Era) => string | undefined;
}

const PORTS = 'a comma list of ports such as "80,8080"';
const CIDRS = 'a comma list of IP ranges without spaces such as "10.0.0.0/8,2001:db8::/32"';
const [portList, cidrList] = [reported(parsePortList), reported(parseCidrList)];

/** Source: Istio's pkg/kube/inject/validate.go. */
const CHECKS = {
  interceptionMode: {
    wanted: "REDIRECT, TPROXY or NONE",
    problem: (value) => ["REDIRECT", "TPROXY", "NONE"].includes(value) ? undefined : "",
  },
  port: { wanted: "a port from 0 to 65535", problem: reported(parsePort) },
  ports: { wanted: PORTS, problem: portList },
  anyOrPorts: { wanted: `"*" or ${PORTS}`, problem: anyOr(portList) },
  cidrs: { wanted: CIDRS, problem: cidrList },
  anyOrCidrs: { wanted: `"*" or ${CIDRS}`, problem: anyOr(cidrList) },
  interfaces: { wanted: 'a comma list of network interfaces such as "eth1,net0"', problem: interfaceListProblem },
  uint32: { wanted: "a whole number from 0 to 4294967295", problem: reported((value) => parseUint(value, 32)) },
  boolean: { wanted: "true or false", problem: (value) => parseBool(value) === undefined ? "" : undefined },
  quantity: { wanted: 'a quantity such as "100m" or "128Mi"', problem: quantityProblem },
  proxyConfig: { wanted: "a ProxyConfig in YAML or JSON", problem: proxyConfigProblem },
} as const satisfies Readonly<Record<string, Check>>;

// The eras whose injectors check a value. An era is a form of the configuration: `1.1` means 1.0 and 1.1, `1.8` means
// 1.2 to 1.8, and `current` means 1.9 and later. For a new annotation, use TODAY.
const ALWAYS: readonly Era[] = ["1.1", "1.8", "current"];
const SINCE_1_2: readonly Era[] = ["1.8", "current"];
const TODAY: readonly Era[] = ["current"];
const LEGACY: readonly Era[] = ["1.1", "1.8"];
const LAST_LEGACY: readonly Era[] = ["1.8"];

/** The annotations whose values the injector checks, by name, with the eras whose injectors check them. */
export const CHECKED: ReadonlyMap<string, { readonly check: Check; readonly eras: readonly Era[] }> = new Map([
  [ANNOTATION.proxyConfig, { check: CHECKS.proxyConfig, eras: SINCE_1_2 }],
  [ANNOTATION.interceptionMode, { check: CHECKS.interceptionMode, eras: ALWAYS }],
  [ANNOTATION.proxyCpu, { check: CHECKS.quantity, eras: TODAY }],
  [ANNOTATION.proxyCpuLimit, { check: CHECKS.quantity, eras: TODAY }],
  [ANNOTATION.proxyMemory, { check: CHECKS.quantity, eras: TODAY }],
  [ANNOTATION.proxyMemoryLimit, { check: CHECKS.quantity, eras: TODAY }],
  [ANNOTATION.enableCoreDump, { check: CHECKS.boolean, eras: LAST_LEGACY }],
  [ANNOTATION.statusPort, { check: CHECKS.port, eras: ALWAYS }],
  [ANNOTATION.readinessInitialDelaySeconds, { check: CHECKS.uint32, eras: ALWAYS }],
  [ANNOTATION.readinessPeriodSeconds, { check: CHECKS.uint32, eras: ALWAYS }],
  [ANNOTATION.readinessFailureThreshold, { check: CHECKS.uint32, eras: ALWAYS }],
  [ANNOTATION.readinessApplicationPorts, { check: CHECKS.ports, eras: LEGACY }],
  [ANNOTATION.includeOutboundIpRanges, { check: CHECKS.anyOrCidrs, eras: ALWAYS }],
  [ANNOTATION.excludeOutboundIpRanges, { check: CHECKS.cidrs, eras: ALWAYS }],
  [ANNOTATION.includeInboundPorts, { check: CHECKS.anyOrPorts, eras: ALWAYS }],
  [ANNOTATION.excludeInboundPorts, { check: CHECKS.ports, eras: ALWAYS }],
  [ANNOTATION.excludeOutboundPorts, { check: CHECKS.ports, eras: SINCE_1_2 }],
  [ANNOTATION.excludeInterfaces, { check: CHECKS.interfaces, eras: TODAY }],
  [ANNOTATION.kubevirtInterfaces, { check: CHECKS.interfaces, eras: TODAY }],
  [ANNOTATION.rerouteVirtualInterfaces, { check: CHECKS.interfaces, eras: TODAY }],
  [ANNOTATION.mergeMetrics, { check: CHECKS.boolean, eras: SINCE_1_2 }],
]);

/** Makes a check from a parser that returns a value or a problem. The value is ignored. */
function reported(parse: (value: string) => number | object | string): Check["problem"] {
  return (value) => {
    const parsed = parse(value);
    return typeof parsed === "string" ? parsed : undefined;
  };
}

/** Makes a check that accepts `*` and the values that another check accepts. */
function anyOr(problem: Check["problem"]): Check["problem"] {
  return (value, era) => value === "*" ? undefined : problem(value, era);
}

function interfaceListProblem(value: string): string | undefined {
  if (value === "") return undefined;
  return value.split(",").map((name) => interfaceNameProblem(goTrim(name))).find((text) => text !== undefined);
}

function quantityProblem(value: string): string | undefined {
  if (/\p{Cc}/u.test(value)) return "it contains control characters";
  return isQuantity(value) ? undefined : "";
}

function proxyConfigProblem(value: string, era: Era): string | undefined {
  try {
    const problems = proxyConfigProblems(value, era);
    return problems.length === 0 ? undefined : problems.map(({ field, text }) => `"${field}" ${text}`).join("; ");
  } catch (error) {
    if (error instanceof MeshError) return error.message;
    throw error;
  }
}
