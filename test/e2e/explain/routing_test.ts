/** Where a real Envoy sends requests, and where `explain` says that it does. */
import assert from "node:assert/strict";
import { re2Library } from "../../../src/core/re2.ts";
import type { Answer } from "../../../src/explain/answer_schema.ts";
import { answerWith } from "../../../src/explain/connection/answer.ts";
import { factsOf } from "../../../src/explain/connection/facts.ts";
import { readConnection } from "../../../src/explain/question/read_connection.ts";
import { testWhen } from "../../support/test_when.ts";
import { OUTSIDE, POD } from "../iptables/support/pod.ts";
import { EnvoyPod, type Logged, missing } from "./support/envoy_pod.ts";
import { REQUESTS, type Sent } from "./support/requests.ts";

testWhen(missing, "explain and a real Envoy agree on every request of a mesh with services of every kind", async () => {
  assert.ok(REQUESTS.length >= 200, `${REQUESTS.length} requests`);
  await using pod = await EnvoyPod.start();
  await re2Library.loaded();
  const facts = factsOf(await pod.capture());
  const ports = await pod.send(REQUESTS);
  const lines = await pod.logged(ports, (index) => REQUESTS[index]?.from === "outside" ? OUTSIDE[4] : POD[4]);
  const wrong = REQUESTS.flatMap((sent, index) => {
    const line = lines[index];
    assert.ok(line !== undefined);
    const connection = readConnection(flagsOf(sent));
    assert.ok(connection !== undefined);
    const answer = answerWith(facts, connection);
    return differences(sent, answer, line).map((what) =>
      `${textOf(sent)}: ${what}\n  ${answer.reason}\n  ${JSON.stringify(line)}`
    );
  });
  assert.deepEqual(wrong, []);
  assertVariety(lines);
});

/** The command line that asks for a request. */
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
    : { ...request, to: undefined, from: OUTSIDE[4], toPort: port };
}

function textOf({ kind, from, ip, port, host, path, method, headers, sni }: Sent): string {
  return [kind, from, method, host, `${ip}:${port}${path ?? ""}`, sni, JSON.stringify(headers ?? {})].filter(Boolean)
    .join(" ");
}

type Check = readonly [what: string, isRight: boolean];

/** What the prediction and the access log do not agree on. */
function differences(sent: Sent, answer: Answer, line: Logged): string[] {
  const verdict = isRefused(line) ? "refused" : "reaches";
  const checks: readonly Check[] = [
    ...wayChecks(answer, line),
    ...isDeniedBy(line) ? [] : targetChecks(sent, answer, line),
    [`verdict ${answer.verdict}`, answer.verdict === verdict],
  ];
  return checks.filter(([, isRight]) => !isRight).map(([what]) => what);
}

function namesOf({ stations }: Answer, kind: string): string[] {
  return stations.filter((station) => station.kind === kind).map(({ name }) => name);
}

/** A connection that no chain takes is logged by the listener alone. */
function wayChecks(answer: Answer, line: Logged): Check[] {
  const [listeners, chains] = [namesOf(answer, "listener"), namesOf(answer, "filter-chain")];
  const isUnmatched = line.flags === "NR" && line.level === "listener";
  return [
    [`listener ${listeners}`, listeners.includes(line.listener)],
    [`chain ${chains}`, isUnmatched || chains[0] === (line.chain ?? "")],
  ];
}

/** What is refused by authorization has a route and perhaps a cluster in the log, and none in the answer. */
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

/** Endpoints refuse connections (UF): that is behind the proxy. What else Envoy answers itself is a refusal. */
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

/** A configuration that answers everything in one way would prove nothing. */
function assertVariety(lines: readonly Logged[]): void {
  const values = (of: (line: Logged) => string | null) => new Set(lines.map(of)).size;
  assert.ok(values(({ listener }) => listener) >= 15, "listeners");
  assert.ok(values(({ route }) => route) >= 40, "routes");
  assert.ok(values(({ cluster }) => cluster) >= 30, "clusters");
  for (const flag of ["UF", "NR", "NC", "UH", "FI"]) {
    assert.ok(lines.some(({ flags }) => (flags ?? "").split(",").includes(flag)), flag);
  }
}
