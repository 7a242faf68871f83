/** Compares the answers of `explain` with Envoy's access log for the same requests. */
import assert from "node:assert/strict";
import { ANSWER, type Answer } from "../../src/explain/answer_schema.ts";
import { answerWith } from "../../src/explain/connection/answer.ts";
import type { Facts } from "../../src/explain/connection/facts.ts";
import { readConnection } from "../../src/explain/question/read_connection.ts";
import { withoutApi } from "../../src/explain/resources/decided.ts";

/** A request, sent by the application or from outside of the pod. */
export interface Sent {
  readonly kind: "http" | "tls" | "tcp";
  readonly from: "application" | "outside";
  readonly ip: string;
  readonly port: number;
  readonly host?: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly sni?: string;
}

/** A line of the access log. */
export interface Logged {
  readonly listener: string;
  readonly level: "request" | "listener";
  readonly from: string;
  readonly route: string | null;
  readonly cluster: string | null;
  readonly host: string | null;
  readonly chain: string | null;
  readonly flags: string | null;
  readonly code: number | null;
  readonly details: string | null;
  readonly termination: string | null;
}

/** A request, and its line in the access log. */
export interface Recorded {
  readonly sent: Sent;
  readonly line: Logged;
}

/** The address of clients outside of the pod. */
const OUTSIDE = "10.199.0.1";

/** Returns the differences between the prediction and the access log, with a description of both. Checks the schema too. */
export function disagreements(facts: Facts, { sent, line }: Recorded): string[] {
  const connection = readConnection(flagsOf(sent));
  assert.ok(connection !== undefined);
  const answer = ANSWER.parse(withoutApi(answerWith(facts, connection)));
  return differences(sent, answer, line).map((what) =>
    `${textOf(sent)}: ${what}\n  ${answer.reason}\n  ${JSON.stringify(line)}`
  );
}

/** Returns the flags of `explain` for a request. */
function flagsOf({ kind, from, ip, port, host, path, method, headers, sni }: Sent) {
  const own = Object.entries(headers ?? {}).map(([name, value]) => `${name}:${value}`);
  const isInside = from === "application";
  const header = kind !== "http" ? [] : [`Host:${host}`, ...isInside ? [] : [`:path:${path}`], ...own];
  const request = { method: kind === "http" ? method : undefined, header, sni };
  return isInside
    ? {
      ...request,
      to: `${kind === "tcp" ? "tcp://" : ""}${ip}:${port}${path ?? ""}`,
      from: undefined,
      toPort: undefined,
    }
    : { ...request, to: undefined, from: OUTSIDE, toPort: port };
}

function textOf({ kind, from, ip, port, host, path, method, headers, sni }: Sent): string {
  return [kind, from, method, host, `${ip}:${port}${path ?? ""}`, sni, JSON.stringify(headers ?? {})].filter(Boolean)
    .join(" ");
}

type Check = readonly [what: string, isRight: boolean];

/** Returns the differences between the prediction and the access log. */
function differences(sent: Sent, answer: Answer, line: Logged): string[] {
  const verdict = isRefused(line) ? "refused" : "reaches";
  const checks: readonly Check[] = [
    ...chainChecks(answer, line),
    ...isDeniedBy(line) ? [] : targetChecks(sent, answer, line),
    [`verdict ${answer.verdict}`, answer.verdict === verdict || verdict === "reaches" && isOpen(answer)],
  ];
  return checks.filter(([, isRight]) => !isRight).map(([what]) => what);
}

/**
 * An unknown verdict is right if only the last stations are unknown: Envoy does not know whether the destination
 * listens, and the snapshot may contain no sockets.
 */
function isOpen({ verdict, stations }: Answer): boolean {
  return verdict === "unknown" &&
    stations.every(({ kind, result }) => result !== "unknown" || ["cluster", "endpoint", "port"].includes(kind));
}

function namesOf({ stations }: Answer, kind: string): string[] {
  return stations.filter((station) => station.kind === kind).map(({ name }) => name);
}

/** If no filter chain matches a connection, only the listener logs it. */
function chainChecks(answer: Answer, line: Logged): Check[] {
  const [listeners, chains] = [namesOf(answer, "listener"), namesOf(answer, "filter-chain")];
  const isUnmatched = line.flags === "NR" && line.level === "listener";
  return [
    [`listener ${listeners}`, listeners.includes(line.listener)],
    [`chain ${chains}`, isUnmatched || chains[0] === (line.chain ?? "")],
  ];
}

/** If authorization refuses a request, the log has its route and perhaps its cluster, but the answer has neither. */
function targetChecks({ kind }: Sent, answer: Answer, line: Logged): Check[] {
  const routes = namesOf(answer, "route");
  const clusters = answer.clusters.map(({ name }) => name);
  const endpoints = answer.endpoints.map(({ address }) => address);
  const isRouted = line.route === null
    ? kind !== "http" || routes.every((name) => name === "")
    : routes.includes(line.route);
  return [
    [`route ${routes}`, isRouted],
    [`cluster ${clusters}`, line.cluster === null ? clusters.length === 0 : clusters.includes(line.cluster)],
    [`endpoint ${endpoints}`, line.host === null || endpoints.includes(line.host)],
  ];
}

/** A refusal by an endpoint (UF) happens behind the proxy. All other errors that Envoy itself returns are refusals. */
function isRefused(line: Logged): boolean {
  if (isDeniedBy(line)) return true;
  const { flags, host, level } = line;
  const ended = (flags ?? "").split(",");
  if (["NR", "NC", "UH", "UO", "FI"].some((flag) => ended.includes(flag))) return true;
  return host === null && level === "request";
}

function isDeniedBy({ details, termination }: Logged): boolean {
  return /rbac/.test(`${details} ${termination}`);
}
