/** Formats the report of `iptables verify` as a table or JSON. */
import { columnsWithin } from "../../base/text/mod.ts";
import type { FlowResult } from "./flows.ts";
import { endpointText } from "./probe/ports.ts";
import type { Verification } from "./report_schema.ts";

/**
 * Formats a table with a line for each flow: kind, family, target, port, result and reason. If a line would be longer than
 * `width`, each flow is a block of lines.
 */
export function resultTable(results: readonly FlowResult[], width: number): string {
  const rows = results.map(({ flow, target, outcome, reason }) => [
    flow.kind,
    `IPv${flow.family}`,
    target === undefined ? "-" : endpointText(target),
    String(flow.port),
    outcome,
    reason,
  ]);
  return columnsWithin([["FLOW", "FAMILY", "TO", "PORT", "RESULT", "WHY"], ...rows], width);
}

/** Formats the results as one JSON document. */
export function resultJson(results: readonly FlowResult[], isProved: boolean): string {
  const document: Verification = {
    proved: isProved,
    flows: results.map(({ flow, target, outcome, reason }) => ({
      flow: flow.kind,
      family: `IPv${flow.family}`,
      target: target === undefined ? null : endpointText(target),
      port: flow.port,
      result: outcome,
      reason,
    })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Formats a result, such as `IPv4 outbound to 192.0.2.1:15002: the connection did not arrive at port 15001`. */
export function resultLine({ flow, target, reason }: Omit<FlowResult, "outcome">): string {
  const where = target === undefined ? "" : ` to ${endpointText(target)}`;
  return `IPv${flow.family} ${flow.kind}${where}: ${reason}`;
}
