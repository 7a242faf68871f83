/** Reads `readinessProbe` from the proxy configuration. Source: pilot-agent's fillInDefaults. */
import { isMap, listAt, mapAt, mapsAt, textAt, type Value, type ValueMap } from "../../../base/value.ts";
import type { HealthCheck, HealthSettings } from "../../health/options.ts";
import type { ProberDetails } from "../../status/probes/config.ts";

/**
 * Reads the probe. `host` is the application's host, which a probe may override. An unusable probe is ignored with a
 * warning.
 */
export function readHealth(proxyConfig: ValueMap, host: string, warnings: string[]): HealthSettings | undefined {
  const probe = proxyConfig["readinessProbe"];
  if (!isMap(probe)) return undefined;
  const timeoutSeconds = positive(probe["timeoutSeconds"], 1);
  const check = checkOf(probe, host, timeoutSeconds);
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

const PROBERS: Readonly<Record<string, (method: ValueMap) => ProberDetails>> = {
  httpGet: (method) => ({
    kind: "http",
    port: positive(method["port"], 0),
    path: textAt(method, "path").replace(/^(?!\/)/, "/"),
    isTls: textAt(method, "scheme").toLowerCase() === "https",
  }),
  tcpSocket: ({ port }) => ({ kind: "tcp", port: positive(port, 0) }),
  grpc: (method) => ({ kind: "grpc", port: positive(method["port"], 0), service: textAt(method, "service") }),
};

function checkOf(probe: ValueMap, host: string, timeoutSeconds: number): HealthCheck | undefined {
  for (const [name, read] of Object.entries(PROBERS)) {
    const method = probe[name];
    if (!isMap(method)) continue;
    const prober = { ...read(method), timeoutSeconds };
    return { kind: "asked", host: textAt(method, "host") || host, headers: headersOf(method), prober };
  }
  const [program, ...args] = listAt(mapAt(probe, "exec"), "command").map(String);
  return program === undefined ? undefined : { kind: "exec", command: [program, ...args] };
}

function positive(value: Value | undefined, fallback: number): number {
  const number = Number(value ?? 0);
  return number > 0 ? number : fallback;
}

function headersOf(method: ValueMap): (readonly [string, string])[] {
  return mapsAt(method, "httpHeaders").map((header) => [textAt(header, "name"), textAt(header, "value")] as const)
    .filter(([name]) => name !== "");
}
