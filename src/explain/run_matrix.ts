/** `explain --matrix`: a table of connections from every workload to every Service in the namespaces of the pods. */
import { EXIT, MeshError } from "../base/errors.ts";
import { columns, visible } from "../base/text/mod.ts";
import { mapAt, mapsAt, textAt } from "../base/value.ts";
import { re2Library } from "../golang/re2.ts";
import { type Progress, withProgress } from "../platform/progress.ts";
import type { World } from "../platform/world.ts";
import type { Answer } from "./answer_schema.ts";
import { answerWith } from "./connection/answer.ts";
import { type Facts, factsOf } from "./connection/facts.ts";
import { withOtherEnds } from "./ends/both_ends.ts";
import { clusterParts } from "./names/services.ts";
import type { Connection, Question, SourceChoice } from "./question/question.ts";
import { jsonOf } from "./snapshot/json_part.ts";
import { podText, type Snapshot } from "./snapshot/snapshot.ts";
import { savedEnds } from "./sources/saved_ends.ts";
import { PODS_READ, snapshotsOf } from "./sources/sources.ts";

/** All snapshots are in memory at once. */
const MAX_PODS = 50;
const MAX_SERVICES = 100;

/** One connection of the table. */
interface Cell extends Pick<Answer, "verdict" | "reason" | "fix"> {
  readonly from: string;
  readonly to: string;
}

/**
 * Prints the table; the exit code is 1 if a connection is refused or unknown. Errors: a MeshError for too many pods, and
 * without any Service.
 */
export async function explainMatrix(world: World, { source, output }: Question): Promise<number> {
  await re2Library.loaded();
  const snapshots = await withProgress(world, PODS_READ, (progress) => allSnapshots(world, source, progress));
  const all = new Map(snapshots.map((snapshot) => [snapshot, factsOf(snapshot)]));
  const ends = savedEnds(all);
  const services = servicesOf([...all.values()]);
  if (services.length === 0) {
    throw new MeshError("No proxy of these pods knows a Service of their namespaces", {
      hint: "see what they read: kubectl mesh explain -o short",
    });
  }
  const clients = new Map([...all].map(([snapshot, facts]) => [workloadOf(snapshot), facts]));
  const cells: Cell[] = [];
  for (const [from, facts] of clients) {
    for (const { host, port } of services) {
      const connection: Connection = { ...REQUEST, host, port };
      const { verdict, reason, fix } = await withOtherEnds(answerWith(facts, connection), facts, connection, ends);
      cells.push({ from, to: `${shortened(host)}:${port}`, verdict, reason, fix });
    }
  }
  world.stdout.write(output === "json" ? `${JSON.stringify(cells, undefined, 2)}\n` : tableOf(cells));
  return cells.every(({ verdict }) => verdict === "reaches" || verdict === "bypasses") ? EXIT.ok : EXIT.failed;
}

async function allSnapshots(world: World, source: SourceChoice, progress: Progress): Promise<readonly Snapshot[]> {
  const snapshots: Snapshot[] = [];
  for await (const { snapshot } of snapshotsOf(world, source, { progress })) {
    if (snapshots.push(snapshot) > MAX_PODS) {
      throw new MeshError(`There are more than ${MAX_PODS} pods`, { hint: "choose some with -l" });
    }
  }
  return snapshots;
}

const REQUEST = {
  direction: "outbound",
  spoken: "unsaid",
  method: "GET",
  path: "/",
  headers: [],
  sni: undefined,
} as const;

/** `shop/web` for the pod `web-6c9f8-x2k4p`, from its ReplicaSet or another owner. */
function workloadOf(snapshot: Snapshot): string {
  const metadata = mapAt(jsonOf(snapshot.parts["pod.json"], "pod.json").value ?? {}, "metadata");
  const hash = textAt(mapAt(metadata, "labels"), "pod-template-hash");
  const owner = textAt(mapsAt(metadata, "ownerReferences")[0] ?? {}, "name");
  const name = owner === "" ? snapshot.pod.name : hash === "" ? owner : owner.replace(`-${hash}`, "");
  return podText({ ...snapshot.pod, name });
}

interface Service {
  readonly host: string;
  readonly port: number;
}

/** The Services in the pods' namespaces that at least one proxy knows. */
function servicesOf(all: readonly Facts[]): readonly Service[] {
  const namespaces = new Set(all.map(({ namespace }) => namespace));
  const names = all.flatMap(({ config }) => config?.clusterNames ?? []).filter((name) => {
    const { direction, subset, host } = clusterParts(name);
    const [, namespace = "", kind] = host.split(".");
    return direction === "outbound" && subset === "" && kind === "svc" && namespaces.has(namespace);
  });
  const services = [...new Set(names)].sort().map((name) => {
    const { host, port } = clusterParts(name);
    return { host, port: Number(port) };
  });
  if (services.length <= MAX_SERVICES) return services;
  throw new MeshError(`There are more than ${MAX_SERVICES} ports of Services`, {
    hint: "ask for single ones with --to",
  });
}

/** `catalog.shop` for `catalog.shop.svc.cluster.local`. */
function shortened(host: string): string {
  return host.split(".").slice(0, 2).join(".");
}

/** A row for each workload, a column for each Service port; below, why connections fail. */
function tableOf(cells: readonly Cell[]): string {
  const [rows, heads] = [[...new Set(cells.map(({ from }) => from))], [...new Set(cells.map(({ to }) => to))]];
  const verdict = (row: string, head: string) =>
    cells.find(({ from, to }) => from === row && to === head)?.verdict ?? "";
  const table = [["FROM", ...heads], ...rows.map((row) => [row, ...heads.map((head) => verdict(row, head))])];
  const reasons = cells.filter((cell) => cell.verdict === "refused" || cell.verdict === "unknown").map((cell) =>
    `${visible(`${cell.from} -> ${cell.to}: ${cell.verdict}: ${cell.reason}`)}\n${
      cell.fix === "" ? "" : `  fix: ${visible(cell.fix)}\n`
    }`
  );
  return `${columns(table.map((row) => row.map(visible)))}${reasons.length === 0 ? "" : "\n"}${reasons.join("")}`;
}
