/** Prints the result of `check upgrade` as text and as JSON. */
import { columnsBeforeText, counted } from "../../base/text/mod.ts";
import { block, printable } from "../print/lines.ts";
import { PLACE } from "./parts.ts";
import type { Upgrade, UpgradeChange, UpgradeWorkload } from "./upgrade_schema.ts";

export function upgradeJson(upgrade: Upgrade): string {
  return `${JSON.stringify(upgrade, null, 2)}\n`;
}

/** Returns a block for each set of workloads with equal changes, largest first, then unknown workloads and a summary. */
export function upgradeText(upgrade: Upgrade, width = Infinity): string {
  const wrapped = (text: string, indent = "") => `${block(text, indent, width).join("\n")}\n`;
  const blocks = blocksOf(upgrade.workloads).map((each) =>
    `${wrapped(title(each, upgrade.workloads))}${columnsBeforeText(rowsOf(each, width), width, { hasHeader: false })}`
  );
  const unknown = upgrade.workloads.filter((each) => each.unknown !== null);
  const hidden = Map.groupBy(unknown, (each) => each.unknown ?? "");
  const doubts = [...hidden].map(([why, workloads]) =>
    `${wrapped(`? ${namesOf(workloads)}:`)}${wrapped(`cannot tell: ${why}`, "    ")}`
  );
  return [...blocks, ...doubts, wrapped(summary(upgrade))].join("\n");
}

interface Block {
  readonly workloads: readonly UpgradeWorkload[];
  readonly changes: readonly UpgradeChange[];
}

/** Groups changes by the set of workloads in which they appear. */
function blocksOf(workloads: readonly UpgradeWorkload[]): readonly Block[] {
  const all = workloads.flatMap((workload) => workload.changes.map((change) => ({ workload, change })));
  const same = [...Map.groupBy(all, ({ change }) => JSON.stringify(change)).values()];
  const groups = Map.groupBy(same, (each) => each.map(({ workload }) => nameOf(workload)).join());
  const blocks = [...groups.values()].map((group) => ({
    workloads: (group[0] ?? []).map(({ workload }) => workload),
    changes: group.flatMap(([first]) => first?.change ?? []),
  }));
  return blocks.toSorted((a, b) => b.workloads.length - a.workloads.length);
}

function title({ workloads }: Block, all: readonly UpgradeWorkload[]): string {
  const isAll = workloads.length === all.length && all.length > 1;
  const who = isAll ? `all ${counted(all.length, "workload")}` : namesOf(workloads);
  const pods = counted(workloads.reduce((sum, each) => sum + each.pods, 0), "pod");
  return `${who}, ${pods}:`;
}

function rowsOf({ changes }: Block, width: number): string[][] {
  return changes.map((
    each,
  ) => [`    ${printable(each.container) || "pod"}`, printable(each.field), change(each, width)]);
}

const MAX_NAMES = 8;

function namesOf(workloads: readonly UpgradeWorkload[]): string {
  const names = workloads.slice(0, MAX_NAMES).map(nameOf);
  const more = workloads.length - names.length;
  return printable(`${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`);
}

function nameOf({ workload, namespace }: UpgradeWorkload): string {
  return `${namespace}/${workload}`;
}

const PLACES: Readonly<Record<string, string>> = {
  initContainers: "an init container",
  containers: "a container",
};

/** Maximum width of a value, in characters. A longer value is cut to the part around the first difference. */
const WIDEST = 80;
/** Columns of the indentation, and of the dots around a value that is cut. */
const BESIDE_VALUE = 14;
const BEFORE = 20;

function change({ field, from, to }: UpgradeChange, width: number): string {
  const widest = Math.min(WIDEST, width - BESIDE_VALUE);
  const start = Math.max(0, commonStart(from ?? "", to ?? "") - BEFORE);
  return `${valueText(field, from, { start, widest })} -> ${valueText(field, to, { start, widest })}`;
}

function commonStart(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function valueText(
  field: string,
  text: string | null,
  { start, widest }: Readonly<Record<"start" | "widest", number>>,
): string {
  if (text === null) return "none";
  const value = printable(field === PLACE ? PLACES[text] ?? text : text) || '""';
  if (value.length <= widest) return value;
  const part = value.slice(start, start + widest);
  return `${start > 0 ? "..." : ""}${part}${start + widest < value.length ? "..." : ""}`;
}

function summary({ to, workloads }: Upgrade): string {
  if (workloads.length === 0) return "no pod with a sidecar is running";
  const changed = workloads.filter(({ changes }) => changes.length > 0);
  const unknown = workloads.filter((each) => each.unknown !== null).length;
  const doubt = unknown === 0 ? "" : `; ${counted(unknown, "workload")} unknown`;
  const all = counted(workloads.length, "workload");
  if (changed.length === 0) return `"${printable(to)}" changes no known sidecar of ${all}${doubt}`;
  const pods = counted(changed.reduce((sum, each) => sum + each.pods, 0), "pod");
  return `"${printable(to)}" changes the sidecars of ${changed.length} of ${all}, ${pods}${doubt}`;
}
