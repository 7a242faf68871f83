/** Runs `explain --matrix`: explains connections from every workload to every Service in the pods' namespaces. */
import { atOnce } from "../base/at_once.ts";
import { EXIT, MeshError } from "../base/errors.ts";
import { columnsWithin, visible, wrappedBeforeCommand } from "../base/text/mod.ts";
import { mapAt, mapsAt, textAt } from "../base/value.ts";
import { re2Library } from "../golang/re2.ts";
import { type Progress, withProgress } from "../platform/progress.ts";
import { tableWidthOf } from "../platform/terminal.ts";
import type { World } from "../platform/world.ts";
import type { Answer } from "./answer_schema.ts";
import { answerWith } from "./connection/answer.ts";
import { type Facts, factsOf } from "./connection/facts.ts";
import { type Ends, withOtherEnds } from "./ends/both_ends.ts";
import { type CellProof, proveCells } from "./probe/cells.ts";
import { clusterParts } from "./names/services.ts";
import type { Connection, Question } from "./question/question.ts";
import { jsonOf } from "./snapshot/json_part.ts";
import { podText, type Snapshot } from "./snapshot/snapshot.ts";
import { PODS_READ, type ReadPod, savedEnds, snapshotsOf } from "./sources/sources.ts";

/** Maximum number of pods: all their snapshots are in memory at the same time. */
const MAX_PODS = 50;
const MAX_SERVICES = 100;

/** One connection of the matrix. */
interface Cell extends Pick<Answer, "verdict" | "reason" | "fix"> {
  readonly from: string;
  readonly to: string;
  /** Result of the request with --probe. */
  readonly probe?: CellProof | undefined;
}

/** A pod that represents its workload as a client. */
interface Client {
  readonly from: string;
  readonly facts: Facts;
  readonly sender: ReadPod["sender"];
}

/** Maximum number of workloads that send requests at the same time. */
const PROBED_AT_ONCE = 4;
const CELLS = { one: "connection", verb: "explained" } as const;

/**
 * Prints the table. The exit code is 1 if a connection is refused or unknown. Throws a MeshError for too many pods or
 * Services, and if there is no Service.
 */
export async function explainMatrix(world: World, question: Question): Promise<number> {
  await re2Library.loaded();
  const reading: { progress: Progress | undefined } = { progress: undefined };
  // Do not let the iteration end: this would close the connection to the cluster before the requests are sent.
  const pods = snapshotsOf(world, question.source, { progress: progressOf(reading) })[Symbol.asyncIterator]();
  try {
    const read = await withProgress(world, PODS_READ, (progress) => {
      reading.progress = progress;
      return allPods(pods);
    });
    reading.progress = undefined;
    const cells = await withProgress(world, CELLS, (progress) => {
      reading.progress = progress;
      return cellsOf(read, question.isProbed === true, progress);
    });
    return printed(world, cells, question.output);
  } finally {
    await pods.return?.();
  }
}

function printed(world: World, cells: readonly Cell[], output: Question["output"]): number {
  world.stdout.write(
    output === "json" ? `${JSON.stringify(cells, undefined, 2)}\n` : tableOf(cells, tableWidthOf(world)),
  );
  const isWell = ({ verdict, probe }: Cell) =>
    (verdict === "reaches" || verdict === "bypasses") && probe?.reached !== false;
  return cells.every(isWell) ? EXIT.ok : EXIT.failed;
}

/** Returns a progress display that forwards each call to the display of the current phase. */
function progressOf(current: { readonly progress: Progress | undefined }): Pick<Progress, "at" | "now" | "hide"> {
  return {
    at: (done, all) => current.progress?.at(done, all),
    now: (what) => current.progress?.now(what),
    hide: () => current.progress?.hide(),
  };
}

async function cellsOf(pods: readonly ReadPod[], isProbed: boolean, progress: Progress): Promise<readonly Cell[]> {
  const all = new Map(pods.map(({ snapshot }) => [snapshot, factsOf(snapshot)]));
  const ends = endsOf(pods, savedEnds(all));
  const services = servicesOf([...all.values()]);
  if (services.length === 0) {
    for (const { snapshot } of pods) {
      const dump = snapshot.parts["config_dump.json"];
      if (dump.absent !== undefined) throw new MeshError(`No proxy of these pods can be read: ${dump.message}`);
    }
    throw new MeshError("The proxies of these pods do not know any Service in the pods' namespaces", {
      hint: "check the state of the proxies with -o short in place of --matrix",
    });
  }
  const clients = new Map(pods.map(({ snapshot, sender }): [string, Client] => {
    const [from, facts] = [workloadOf(snapshot), all.get(snapshot) ?? factsOf(snapshot)];
    return [from, { from, facts, sender }];
  }));
  let done = 0;
  const total = clients.size * services.length;
  const count = () => progress.at(++done, total);
  const rows = await atOnce([...clients.values()], isProbed ? PROBED_AT_ONCE : 1, async (client) => {
    progress.now(client.from);
    const row = await rowOf(client, services, ends, isProbed ? () => {} : count);
    return isProbed ? await proved(client, row, count) : row.map(({ cell }) => cell);
  });
  return rows.flat();
}

/** Finds the pods behind endpoints among the pods of the matrix, or else in the cluster. Reads each pod once. */
export function endsOf(pods: readonly Pick<ReadPod, "sender" | "ends">[], saved: Ends): Ends {
  const live = pods.find(({ sender }) => sender !== undefined)?.ends;
  if (live === undefined) return saved;
  const read = new Map<string, ReturnType<Ends["podAt"]>>();
  return {
    ...live,
    async podAt(address, namespace) {
      const own = await saved.podAt(address, namespace);
      if (own.snapshot !== undefined) return own;
      const other = read.get(address) ?? live.podAt(address, namespace);
      read.set(address, other);
      return await other;
    },
  };
}

/** A cell of the matrix and the connection behind it. No request has proved the connection yet. */
interface Explained {
  readonly cell: Cell;
  readonly connection: Connection;
}

async function rowOf(
  { from, facts }: Client,
  services: readonly Service[],
  ends: Ends,
  done: () => void,
): Promise<readonly Explained[]> {
  const row: Explained[] = [];
  for (const { host, port } of services) {
    const connection: Connection = { ...REQUEST, host, port };
    const { verdict, reason, fix } = await withOtherEnds(answerWith(facts, connection), facts, connection, ends);
    row.push({ cell: { from, to: `${shortened(host)}:${port}`, verdict, reason, fix }, connection });
    done();
  }
  return row;
}

async function proved(
  { facts, sender }: Client,
  row: readonly Explained[],
  done: () => void,
): Promise<readonly Cell[]> {
  const from = sender ?? (() => Promise.resolve("the pod has no proxy, and requests are sent from the proxy's image"));
  const asked = row.map(({ cell: { verdict }, connection }) => ({ verdict, connection }));
  const proofs = await proveCells(from, facts, asked, done);
  return row.map(({ cell }, at) => withProof(cell, proofs[at]));
}

/** Adds the proof to a cell. A request that an endpoint accepted replaces an unknown verdict. */
function withProof(cell: Cell, probe: CellProof | undefined): Cell {
  if (cell.verdict !== "unknown" || probe?.reached !== true) return { ...cell, probe };
  return { ...cell, verdict: "reaches", reason: `The response to a request was ${probe.result}`, fix: "", probe };
}

/** Reads all pods. Stops at the last pod, before the end of the iteration, which would close the connection. */
async function allPods(iterator: AsyncIterator<ReadPod>): Promise<readonly ReadPod[]> {
  const pods: ReadPod[] = [];
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) return pods;
    if (pods.push(value) > MAX_PODS) {
      throw new MeshError(`There are more than ${MAX_PODS} pods`, { hint: "select fewer pods with -l" });
    }
    if (value.left === 0) return pods;
  }
}

const REQUEST = {
  direction: "outbound",
  spoken: "unsaid",
  method: "GET",
  path: "/",
  headers: [],
  sni: undefined,
} as const;

/** Returns the workload of a pod from its owner, such as `shop/web` for the pod `web-6c9f8-x2k4p`. */
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

/** Returns the Services in the pods' namespaces that at least one proxy knows. */
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
  throw new MeshError(`The Services have more than ${MAX_SERVICES} ports`, {
    hint: "explain single connections with --to",
  });
}

/** Returns the short form of a host: `catalog.shop` for `catalog.shop.svc.cluster.local`. */
function shortened(host: string): string {
  return host.split(".").slice(0, 2).join(".");
}

/** Returns the text of a cell: `reaches`, or with a probe `reaches, proved` or `reaches, but 503`. */
function textOf(cell: Cell | undefined): string {
  const { verdict = "", probe } = cell ?? {};
  if (probe === undefined) return verdict;
  const { result, reached } = probe;
  if (reached === null || verdict === "unknown") return `${verdict} (${result})`;
  return reached === (verdict !== "refused") ? `${verdict}, proved` : `${verdict}, but ${result}`;
}

/** Prints a row for each workload and a column for each Service port. Below are the reasons, wrapped at `width` columns. */
function tableOf(cells: readonly Cell[], width: number): string {
  const [rows, heads] = [[...new Set(cells.map(({ from }) => from))], [...new Set(cells.map(({ to }) => to))]];
  const verdict = (row: string, head: string) => textOf(cells.find(({ from, to }) => from === row && to === head));
  const table = [["FROM", ...heads], ...rows.map((row) => [row, ...heads.map((head) => verdict(row, head))])];
  const isOpen = ({ verdict, probe }: Cell) =>
    verdict === "refused" || verdict === "unknown" || probe?.reached === false;
  const wrappedReason = (text: string) => wrappedBeforeCommand(visible(text), width - 4).join("\n    ");
  const reasons = cells.filter(isOpen).map((cell) =>
    `${wrappedReason(`${cell.from} -> ${cell.to}: ${textOf(cell)}: ${cell.reason}`)}\n${
      cell.fix === "" ? "" : `  ${wrappedReason(`fix: ${cell.fix}`)}\n`
    }`
  );
  return `${columnsWithin(table.map((row) => row.map(visible)), width)}${reasons.length === 0 ? "" : "\n"}${
    reasons.join("")
  }`;
}
