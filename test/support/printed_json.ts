/** Checks the JSON that commands print against its schema. */
import type { z } from "zod";
import { EXPLANATION } from "../../src/check/injection/explanation_schema.ts";
import { CHECK_RESULTS } from "../../src/check/result_schema.ts";
import { UPGRADE } from "../../src/check/upgrade/upgrade_schema.ts";
import { PILOT_AGENT_VERSION } from "../../src/cli/commands/agent/pilot_agent_schema.ts";
import { VERSION_INFO } from "../../src/cli/commands/version/version_schema.ts";
import { ANSWER } from "../../src/explain/answer_schema.ts";
import { POD_SUMMARY } from "../../src/explain/summary/pod_summary_schema.ts";
import { REPORT_LINE } from "../../src/inject/document/report_schema.ts";
import { VERIFICATION } from "../../src/iptables/verify/report_schema.ts";
import { PLAN } from "../../src/iptables/views/plan_schema.ts";

interface Printed {
  /** Matches the arguments of a command, joined by spaces. */
  readonly words: RegExp;
  readonly stream: "stdout" | "stderr";
  readonly schema: z.ZodType;
  readonly isLines: boolean;
}

const PRINTED: readonly Printed[] = [
  { words: /^inject .*--report[ =]json\b/, stream: "stderr", schema: REPORT_LINE, isLines: true },
  { words: /^check injection .*(-o ?|--output[ =])json\b/, stream: "stdout", schema: EXPLANATION, isLines: true },
  { words: /^check upgrade .*(-o ?|--output[ =])json\b/, stream: "stdout", schema: UPGRADE, isLines: false },
  {
    words: /^check (?!injection |upgrade ).*(-o ?|--output[ =])json\b/,
    stream: "stdout",
    schema: CHECK_RESULTS,
    isLines: false,
  },
  { words: /^explain .*--(to|from)\b.*(-o ?|--output[ =])json\b/, stream: "stdout", schema: ANSWER, isLines: false },
  {
    words: /^explain (?!.*--(to|from)\b).*(-o ?|--output[ =])json\b/,
    stream: "stdout",
    schema: POD_SUMMARY,
    isLines: false,
  },
  { words: /^iptables generate .*--output[ =]json\b/, stream: "stdout", schema: PLAN, isLines: false },
  { words: /^iptables verify .*--output[ =]json\b/, stream: "stdout", schema: VERIFICATION, isLines: false },
  { words: /^version .*(-o ?|--output[ =])json\b/, stream: "stdout", schema: VERSION_INFO, isLines: false },
  {
    words: /^pilot-agent version .*(-o ?|--output[ =])json\b/,
    stream: "stdout",
    schema: PILOT_AGENT_VERSION,
    isLines: false,
  },
];

/**
 * Checks the output of the program against the schema for its command. Runs that print no JSON pass. Lines that are not
 * JSON objects count as messages. Throws if the output does not match.
 */
export function checkPrinted(
  args: readonly string[],
  said: { readonly stdout: string; readonly stderr: string },
): void {
  const line = args.join(" ");
  const printed = PRINTED.find(({ words }) => words.test(line));
  if (printed === undefined) return;
  const text = said[printed.stream];
  const lines = text.split("\n").filter((each) => each.startsWith("{"));
  const documents = printed.isLines ? lines : text === "" || !text.startsWith("{") ? [] : [text];
  for (const document of documents) printed.schema.parse(JSON.parse(document));
}
