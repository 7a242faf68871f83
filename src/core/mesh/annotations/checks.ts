import { MeshError } from "../../errors.ts";
import { isQuantity } from "../../kube/mod.ts";
import {
  goTrim,
  interfaceNameProblem,
  parseBool,
  parseCidrList,
  parsePort,
  parsePortList,
  parseUint,
} from "../../net.ts";
import type { Era } from "../era.ts";
import { proxyConfigProblems } from "../read/parse.ts";

/** A rule for the values of annotations. */
export interface Check {
  /** What the value must be, to go on behind `must be`. */
  readonly wanted: string;
  /** What is wrong with a value, `undefined` if nothing. */
  readonly problem: (value: string, era: Era) => string | undefined;
}

/** The rules by name. Source: Istio's pkg/kube/inject/validate.go. */
export const CHECKS = {
  interceptionMode: { wanted: "REDIRECT, TPROXY or NONE", problem: interceptionModeProblem },
  port: { wanted: "a port from 0 to 65535", problem: portProblem },
  ports: { wanted: 'a comma list of ports such as "80,8080"', problem: portListProblem },
  anyOrPorts: { wanted: '"*" or a comma list of ports such as "80,8080"', problem: anyOr(portListProblem) },
  cidrs: {
    wanted: 'a comma list of IP ranges without spaces such as "10.0.0.0/8,2001:db8::/32"',
    problem: cidrListProblem,
  },
  anyOrCidrs: {
    wanted: '"*" or a comma list of IP ranges without spaces such as "10.0.0.0/8,2001:db8::/32"',
    problem: anyOr(cidrListProblem),
  },
  interfaces: { wanted: 'a comma list of network interfaces such as "eth1,net0"', problem: interfaceListProblem },
  uint32: { wanted: "a whole number from 0 to 4294967295", problem: uint32Problem },
  boolean: { wanted: "true or false", problem: booleanProblem },
  quantity: { wanted: 'a quantity of Kubernetes such as "100m" or "128Mi"', problem: quantityProblem },
  proxyConfig: { wanted: "a ProxyConfig in YAML or JSON", problem: proxyConfigProblem },
} as const satisfies Readonly<Record<string, Check>>;

/** The name of a rule. */
export type CheckName = keyof typeof CHECKS;

function interceptionModeProblem(value: string): string | undefined {
  return ["REDIRECT", "TPROXY", "NONE"].includes(value) ? undefined : `"${value}" is none of them`;
}

function portProblem(value: string): string | undefined {
  return textOnly(parsePort(value));
}

function portListProblem(value: string): string | undefined {
  return textOnly(parsePortList(value));
}

function cidrListProblem(value: string): string | undefined {
  return textOnly(parseCidrList(value));
}

function uint32Problem(value: string): string | undefined {
  return textOnly(parseUint(value, 32));
}

function textOnly(result: number | object | string): string | undefined {
  return typeof result === "string" ? result : undefined;
}

/** `*` alone, or what the rule takes. */
function anyOr(problem: (value: string) => string | undefined): (value: string) => string | undefined {
  return (value) => value === "*" ? undefined : problem(value);
}

function interfaceListProblem(value: string): string | undefined {
  if (value === "") return undefined;
  return value.split(",").map((name) => interfaceNameProblem(goTrim(name))).find((text) => text !== undefined);
}

function booleanProblem(value: string): string | undefined {
  return parseBool(value) === undefined ? `"${value}" is neither` : undefined;
}

function quantityProblem(value: string): string | undefined {
  if (/\p{Cc}/u.test(value)) return "it has control characters";
  return isQuantity(value) ? undefined : `"${value}" is none`;
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
