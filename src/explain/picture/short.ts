/** Prints pods as a table, with one line for each pod. */
import { ageText, columnsBeforeText, visible } from "../../base/text/mod.ts";
import type { PodSummary } from "../summary/pod_summary_schema.ts";

const HEAD = ["POD", "SYNCHRONISED", "AGE", "CERTIFICATE", "READY", "PROBLEM"];

/** Returns a table of pods: sync state, age of the last change, time until the certificate expires, worst problem. */
export function shortText(summaries: readonly PodSummary[], width: number): string {
  return columnsBeforeText([HEAD, ...summaries.map(row)].map((cells) => cells.map(visible)), width);
}

function row({ pod, configuration, certificate, readiness, findings }: PodSummary): string[] {
  const ages = configuration.types.flatMap(({ age }) => age ?? []);
  return [
    pod === "" ? "-" : pod,
    wordOf(configuration.synchronised),
    ages.length === 0 ? "-" : ageText(Math.min(...ages)),
    certificate.lasts === null ? "-" : certificate.lasts <= 0 ? "expired" : ageText(certificate.lasts),
    wordOf(readiness.ready),
    problemOf(findings, configuration),
  ];
}

function wordOf(value: boolean | null): string {
  return value === null ? "unknown" : value ? "yes" : "no";
}

const LONGEST = 120;

function problemOf(
  [first]: PodSummary["findings"],
  { synchronised, result, message }: PodSummary["configuration"],
): string {
  const text = first?.message ?? (synchronised === null && result === "unknown" ? message : "-");
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}..` : text;
}
