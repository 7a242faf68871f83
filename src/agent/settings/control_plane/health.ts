/** `readinessProbe` of the proxy configuration. Source: pilot-agent's fillInDefaults. */
import { isList, isMap, type Value, type ValueMap } from "../../../core/value.ts";
import type { HealthCheck, HealthSettings } from "../../health/options.ts";

export interface HealthInputs {
  readonly proxyConfig: ValueMap;
  /** The application's host unless the probe names one: an IP address or `localhost`. */
  readonly host: string;
}

/** Reads it. An unusable probe is ignored with a warning. */
export function readHealth({ proxyConfig, host }: HealthInputs, warnings: string[]): HealthSettings | undefined {
  const probe = proxyConfig["readinessProbe"];
  if (!isMap(probe)) return undefined;
  const timeoutSeconds = positive(probe["timeoutSeconds"], 1);
  const check = Object.entries(METHODS).map(([name, read]) => {
    const method = probe[name];
    return isMap(method) ? read(method, host, timeoutSeconds) : undefined;
  }).find((found) => found !== undefined);
  if (check === undefined) {
    warnings.push('"readinessProbe" of the proxy configuration has no httpGet, tcpSocket, grpc or exec with a command');
    return undefined;
  }
  return {
    check,
    timeoutSeconds,
    initialDelaySeconds: positive(probe["initialDelaySeconds"], 0),
    periodSeconds: positive(probe["periodSeconds"], 10),
    successThreshold: positive(probe["successThreshold"], 1),
    failureThreshold: positive(probe["failureThreshold"], 1),
  };
}

type Read = (method: ValueMap, host: string, timeoutSeconds: number) => HealthCheck | undefined;

const METHODS: Readonly<Record<string, Read>> = {
  httpGet: (method, host, timeoutSeconds) => ({
    kind: "asked",
    host: textOf(method["host"]) || host,
    headers: headersOf(method["httpHeaders"]),
    prober: {
      kind: "http",
      port: positive(method["port"], 0),
      path: textOf(method["path"]).replace(/^(?!\/)/, "/"),
      isTls: textOf(method["scheme"]).toLowerCase() === "https",
      timeoutSeconds,
    },
  }),
  tcpSocket: (method, host, timeoutSeconds) => ({
    kind: "asked",
    host: textOf(method["host"]) || host,
    headers: [],
    prober: { kind: "tcp", port: positive(method["port"], 0), timeoutSeconds },
  }),
  grpc: (method, host, timeoutSeconds) => ({
    kind: "asked",
    host,
    headers: [],
    prober: {
      kind: "grpc",
      port: positive(method["port"], 0),
      service: textOf(method["service"]),
      timeoutSeconds,
    },
  }),
  exec: ({ command }) => {
    const [program, ...args] = isList(command) ? command.map(String) : [];
    return program === undefined ? undefined : { kind: "exec", command: [program, ...args] };
  },
};

function positive(value: Value | undefined, fallback: number): number {
  const number = Number(value ?? 0);
  return number > 0 ? number : fallback;
}

function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}

function headersOf(value: Value | undefined): (readonly [string, string])[] {
  return (isList(value) ? value : []).filter(isMap).map(({ name, value }) => [textOf(name), textOf(value)] as const)
    .filter(([name]) => name !== "");
}
