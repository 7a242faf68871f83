/** What a proof found, for people and for programs. */
import type { FlowResult } from "./flow.ts";
import { endpointText } from "./probe/ports.ts";

/** A line for each flow: what, as whom, where to, what came of it and by what it is known. */
export function resultTable(results: readonly FlowResult[]): string {
  const rows = results.map(({ flow, target, outcome, reason }) => [
    flow.kind,
    `IPv${flow.family}`,
    target === undefined ? "-" : endpointText(target),
    String(flow.port),
    outcome,
    reason,
  ]);
  const all = [["FLOW", "FAMILY", "TO", "PORT", "RESULT", "WHY"], ...rows];
  const widths = (all[0] ?? []).map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all.map((row) => `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ").trimEnd()}\n`).join("");
}

/** The same as one JSON document. */
export function resultJson(results: readonly FlowResult[], isProved: boolean): string {
  const flows = results.map(({ flow, target, outcome, reason }) => ({
    flow: flow.kind,
    family: `IPv${flow.family}`,
    target: target === undefined ? null : endpointText(target),
    port: flow.port,
    result: outcome,
    reason,
  }));
  return `${JSON.stringify({ proved: isProved, flows }, null, 2)}\n`;
}

/** `IPv4 outbound to 192.0.2.1:15002: it did not arrive at port 15001`. */
export function resultLine({ flow, target, reason }: Omit<FlowResult, "outcome">): string {
  const where = target === undefined ? "" : ` to ${endpointText(target)}`;
  return `IPv${flow.family} ${flow.kind}${where}: ${reason}`;
}
