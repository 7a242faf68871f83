import { isDnsLabel, isHostName } from "../../golang/net/mod.ts";
import { isMap, listAt, mapAt, type Value, type ValueMap } from "../../base/value.ts";
import { checkProxyConfig } from "./proxy.ts";
import type { FieldProblem } from "../decode/decode.ts";
import { nanosecondsOf } from "../decode/duration_text.ts";
import { durationProblem, trafficPolicyProblems } from "./traffic.ts";

const HOUR = 3_600_000_000_000n;
const MILLISECOND = 1_000_000n;

/** The invalid values of a decoded and merged mesh configuration. Source: Istio's ValidateMeshConfig. */
export function checkMeshConfig(data: ValueMap): FieldProblem[] {
  const proxy = data["defaultConfig"];
  const ofProxy = isMap(proxy) ? checkProxyConfig(proxy) : [];
  return [
    ...portProblems(data),
    ...timeoutProblems(data),
    ...ofProxy.map(({ field, text }) => ({ field: `defaultConfig.${field}`, text })),
    ...trustDomainProblems(data),
    ...listAt(data, "serviceSettings").flatMap(serviceProblems),
    ...curveProblems(data),
    ...trafficPolicyProblems(data["defaultTrafficPolicy"]),
  ];
}

function portProblems(data: ValueMap): FieldProblem[] {
  const port = Number(data["proxyListenPort"] ?? 0);
  if (port >= 1 && port <= 65535) return [];
  return [{ field: "proxyListenPort", text: `must be a port from 1 to 65535, not ${port}` }];
}

function timeoutProblems(data: ValueMap): FieldProblem[] {
  const connect = String(data["connectTimeout"] ?? "0s");
  const detection = String(data["protocolDetectionTimeout"] ?? "0s");
  const connectProblem = durationProblem(connect) ??
    (nanosecondsOf(connect) > HOUR ? `must be at most an hour, not "${connect}"` : undefined);
  const isWhole = nanosecondsOf(detection) % MILLISECOND === 0n;
  return [
    ...(connectProblem === undefined ? [] : [{ field: "connectTimeout", text: connectProblem }]),
    ...(isWhole ? [] : [{ field: "protocolDetectionTimeout", text: `must be whole milliseconds, not "${detection}"` }]),
  ];
}

function trustDomainProblems(data: ValueMap): FieldProblem[] {
  const own = isTrustDomain(data["trustDomain"] ?? "")
    ? []
    : [notTrustDomain("trustDomain", data["trustDomain"] ?? "")];
  const aliases = listAt(data, "trustDomainAliases").flatMap((alias, index) =>
    isTrustDomain(alias) ? [] : [notTrustDomain(`trustDomainAliases[${index}]`, alias)]
  );
  return [...own, ...aliases];
}

function notTrustDomain(field: string, value: Value): FieldProblem {
  return { field, text: value === "" ? "must be set" : `must be a domain name, not "${value}"` };
}

/** Whether a value is a trust domain: DNS labels joined by dots, with an optional final dot. */
function isTrustDomain(value: Value): boolean {
  if (typeof value !== "string" || value === "") return false;
  const labels = value.split(".");
  if (labels[labels.length - 1] === "") labels.pop();
  return labels.every(isDnsLabel);
}

function serviceProblems(settings: Value, index: number): FieldProblem[] {
  const hosts = isMap(settings) ? listAt(settings, "hosts") : [];
  return hosts.flatMap((host, at) =>
    isWildcardHost(String(host)) ? [] : [{
      field: `serviceSettings[${index}].hosts[${at}]`,
      text: `must be a host name or start with "*.", not "${host}"`,
    }]
  );
}

/** Whether a text is a host name whose first label may be `*` or start with `*` or `*-`. */
function isWildcardHost(host: string): boolean {
  const [first = "", ...rest] = host.split(".");
  const bare = first === "*" ? "a" : first.replace(/^\*-?/, "");
  if (first.length > 63 || host.length > 255 || !isDnsLabel(bare)) return false;
  return rest.length === 0 || isHostName(rest.join(".")) || rest.join(".") === "";
}

function curveProblems(data: ValueMap): FieldProblem[] {
  if (listAt(mapAt(data, "meshMTLS"), "ecdhCurves").length === 0) return [];
  return [{ field: "meshMTLS.ecdhCurves", text: "must not be set: set them in tlsDefaults" }];
}
