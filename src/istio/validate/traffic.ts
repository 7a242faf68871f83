import { isMap, type Value, valueAt, type ValueMap } from "../../base/value.ts";
import type { FieldProblem } from "../decode/decode.ts";
import { nanosecondsOf } from "../decode/duration_text.ts";
import { brokenRules, type Rule } from "./rule.ts";

const MILLISECOND = 1_000_000n;

/** The problem of a duration that must be a positive whole number of milliseconds. Source: Istio's ValidateDuration. */
export function durationProblem(text: string): string | undefined {
  const duration = nanosecondsOf(text);
  if (duration < MILLISECOND) return `must be at least "1ms", not "${text}"`;
  return duration % MILLISECOND === 0n ? undefined : `must be whole milliseconds, not "${text}"`;
}

const RULES: readonly Rule[] = [
  ...["http1MaxPendingRequests", "http2MaxRequests", "maxRequestsPerConnection", "maxRetries", "maxConcurrentStreams"]
    .map((name) => ({ path: `connectionPool.http.${name}`, problem: negative })),
  { path: "connectionPool.tcp.maxConnections", problem: negative },
  ...[
    "connectionPool.http.idleTimeout",
    "connectionPool.tcp.connectTimeout",
    "connectionPool.tcp.maxConnectionDuration",
    "connectionPool.tcp.tcpKeepalive.time",
    "connectionPool.tcp.tcpKeepalive.interval",
    "outlierDetection.baseEjectionTime",
    "outlierDetection.interval",
  ].map((path) => ({ path, problem: (value: Value) => durationProblem(String(value)) })),
  { path: "connectionPool.tcp.idleTimeout", problem: idleProblem },
  ...["maxEjectionPercent", "minHealthPercent"]
    .map((name) => ({ path: `outlierDetection.${name}`, problem: percentProblem })),
];

/** The invalid values of `defaultTrafficPolicy`. Source: Istio's validateMeshConfigDefaultTrafficPolicy. */
export function trafficPolicyProblems(policy: Value | undefined): FieldProblem[] {
  if (!isMap(policy)) return [];
  return [...brokenRules(policy, RULES, "defaultTrafficPolicy."), ...poolProblems(policy), ...outlierProblems(policy)];
}

function poolProblems(policy: ValueMap): FieldProblem[] {
  const pool = policy["connectionPool"];
  if (!isMap(pool)) return [];
  const field = "defaultTrafficPolicy.connectionPool";
  if (pool["http"] === undefined && pool["tcp"] === undefined) return [{ field, text: "must set http or tcp" }];
  const isBoth = valueAt(pool, "http", "h2UpgradePolicy") === "UPGRADE" &&
    valueAt(pool, "http", "useClientProtocol") === true;
  return isBoth
    ? [{ field: `${field}.http.useClientProtocol`, text: "must not be true together with the upgrade to HTTP/2" }]
    : [];
}

function outlierProblems(policy: ValueMap): FieldProblem[] {
  const outlier = policy["outlierDetection"];
  if (!isMap(outlier) || outlier["splitExternalLocalOriginErrors"] === true) return [];
  if (Number(outlier["consecutiveLocalOriginFailures"] ?? 0) === 0) return [];
  const field = "defaultTrafficPolicy.outlierDetection.consecutiveLocalOriginFailures";
  return [{ field, text: "needs splitExternalLocalOriginErrors" }];
}

function negative(value: Value): string | undefined {
  return Number(value) < 0 ? `must not be negative, but is ${value}` : undefined;
}

function percentProblem(value: Value): string | undefined {
  return Number(value) < 0 || Number(value) > 100 ? `must be from 0 to 100, not ${value}` : undefined;
}

/** The problem of an idle timeout. Istio accepts a timeout below a millisecond, which disables the timeout. */
function idleProblem(value: Value): string | undefined {
  const text = String(value);
  const duration = nanosecondsOf(text);
  const isOff = duration > -MILLISECOND && duration < MILLISECOND;
  return isOff ? undefined : durationProblem(text);
}
