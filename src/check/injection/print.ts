/** Prints explanations as text, JSON, and YAML. */
import { columnsBeforeText, columnsWithin } from "../../base/text/mod.ts";
import { fixLines } from "../advice/text.ts";
import { yamlOf } from "../print/json.ts";
import { adviceBlock, block, printable, type Width } from "../print/lines.ts";
import type { Explanation } from "./explanation.ts";
import type { LivePod } from "../inventory/live_pods.ts";
import type { ExplanationLine, RuleLine } from "./explanation_schema.ts";
import { ASSUMED, DRY_RUN, IN_MANIFEST } from "./verdict.ts";

const EFFECTS: Readonly<Record<RuleLine["effect"], string>> = {
  called: "webhook is called",
  "not-called": "webhook is not called",
  "no-answer": "no answer",
  injects: "injects",
  "does-not-inject": "does not inject",
  refuses: "refuses the pod",
  "not-asked": "not evaluated",
  unknown: "cannot tell",
};

export interface ExplanationLook {
  /** Width of lines, in columns. */
  readonly width: number;
  /** Maximum width of tables, in columns. In a wider table, each row becomes a block of lines. */
  readonly tableWidth: number;
  /** Whether to print the file and the document of each workload. */
  readonly namesFiles?: boolean;
  /** Whether to print the table of rules, and to leave lines unwrapped. */
  readonly isWide: boolean;
}

/** Returns verdict, cause, live pods, warnings, and fixes as text. The wide output also contains the rules. */
export function explanationText(
  explanation: Explanation,
  { width, tableWidth, isWide, namesFiles = false }: ExplanationLook,
): string {
  const { rules, live, warnings, fixes } = explanation;
  const most = isWide ? undefined : width;
  const pods = [POD, ...live.map(podRow)].map((row) => isWide ? row : row.slice(0, -1));
  const parts = [
    headline(explanation, namesFiles, most),
    ...isWide ? [table([["RULE", "FIELD", "VALUE", "EFFECT"], ...rules.map(ruleRow)], tableWidth)] : [],
    ...live.length === 0 ? [] : [table(pods, tableWidth)],
    ...warnings.length === 0 ? [] : [warnings.flatMap((warning) => block(`warning: ${warning}`, "", most)).join("\n")],
    ...fixes.length === 0 ? [] : [adviceBlock(fixLines(fixes, isWide), "", most).join("\n")],
  ];
  return `${parts.join("\n\n")}\n`;
}

const POD: readonly string[] = ["POD", "PHASE", "PROXY", "REVISION", "IMAGE"];

/** Returns one line for each workload. The wide output also contains its webhook and fix. */
export function overviewText(explanations: readonly Explanation[], look: ExplanationLook): string {
  const { width, tableWidth, isWide } = look;
  if (isWide) return wideOverview(explanations, tableWidth);
  const head = ["NAMESPACE", "WORKLOAD", "VERDICT", "CAUSE"];
  const rows = explanations.map((each) => [each.namespace, each.workload, shortVerdict(each), shortCause(each)]);
  const table = columnsBeforeText([head, ...rows.map((row) => row.map(printable))], width);
  const hint = explanations.some(({ fixes }) => fixes.length > 0) ? `\n${block(HINT, "", width).join("\n")}\n` : "";
  return `${table}${hint}`;
}

const HINT = '"kubectl mesh check injection KIND/NAME -n NAMESPACE" shows how to change the verdict';

function wideOverview(explanations: readonly Explanation[], width: number): string {
  const rows = explanations.map((each) => {
    const { namespace, workload, by, fix } = each;
    return [namespace, workload, shortVerdict(each), by ?? "-", shortCause(each), fix.join(" && ") || "-"];
  });
  const head = ["NAMESPACE", "WORKLOAD", "VERDICT", "BY", "CAUSE", "FIX"];
  return columnsWithin([head, ...rows.map((row) => row.map(printable))], width);
}

/** Returns the cause of the verdict, followed by warnings. */
function shortCause({ verdict, message, warnings, hasProblem }: Explanation): string {
  const isSaid = verdict === "refused" || verdict === "cannot-tell" || !hasProblem;
  return isSaid ? message : [message, ...warnings].join("; ");
}

function headline(explanation: Explanation, namesFiles: boolean, width: Width): string {
  const { workload, namespace, file, document, message, field } = explanation;
  const where = namespace === "" ? "" : ` in the namespace "${namespace}"`;
  const place = file === null || document === null ? "" : `${file}, document ${document}`;
  const name = workload === "" ? place : `${workload}${where}${namesFiles && place !== "" ? ` (${place})` : ""}`;
  const why = field === "" ? message : `${message} (${field})`;
  return [...block(`${name}: ${verdictText(explanation)}`, "", width), ...block(why, "  ", width)].join("\n");
}

function verdictText({ verdict, by, reason }: Explanation): string {
  if (reason === IN_MANIFEST) return "in the mesh by its manifest";
  return by === null || [ASSUMED, DRY_RUN].includes(by) ? shortVerdict({ verdict, reason }) : `injected by ${by}`;
}

function shortVerdict({ verdict, reason }: Pick<Explanation, "verdict" | "reason">): string {
  return reason === IN_MANIFEST ? "in manifest" : verdict.replace("-", " ");
}

function ruleRow({ rule, field, value, effect, message }: RuleLine): readonly string[] {
  const text = EFFECTS[effect];
  return [rule, field, value ?? "-", message === "" ? text : `${text}: ${message}`];
}

function podRow({ pod, phase, proxy, native, ready, revision, image }: LivePod): readonly string[] {
  const state = `${native ? "native sidecar" : "container"}, ${ready ? "ready" : "not ready"}`;
  return [pod, phase || "-", proxy ? state : "none", revision ?? "-", image ?? "-"];
}

/** Maximum width of a value, in characters. A value may be a whole template. */
const WIDEST = 80;

function table(rows: readonly (readonly string[])[], width: number): string {
  const cells = rows.map((row) =>
    row.map((cell, index) => index === row.length - 1 ? printable(cell) : cut(printable(cell)))
  );
  return columnsWithin(cells, width).trimEnd();
}

function cut(text: string): string {
  return text.length <= WIDEST ? text : `${text.slice(0, WIDEST - 3)}...`;
}

export function explanationYaml(explanation: Explanation): string {
  return yamlOf(explanationJson(explanation));
}

export function explanationJson({ hasProblem: _hasProblem, ...line }: Explanation): string {
  return `${JSON.stringify(line satisfies ExplanationLine)}\n`;
}
