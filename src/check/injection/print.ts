/** An explanation as text and as JSON. */
import { columns } from "../../core/columns.ts";
import { goJson, OrderedFields } from "../../core/gojson.ts";
import type { Explanation } from "./explanation.ts";
import type { LivePod } from "../inventory/live_pods.ts";
import type { ExplanationLine, RuleLine } from "./explanation_schema.ts";
import { ASSUMED, type Ruling } from "./verdict.ts";

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

/** The result, the rules in order of evaluation, live pods, warnings, and the fixing commands. */
export function explanationText(explanation: Explanation): string {
  const { rules, live, warnings, fix } = explanation;
  const parts = [
    headline(explanation),
    table([["RULE", "FIELD", "VALUE", "EFFECT"], ...rules.map(ruleRow)]),
    ...live.length === 0 ? [] : [table([["POD", "PHASE", "PROXY", "REVISION", "IMAGE"], ...live.map(podRow)])],
    ...warnings.length === 0 ? [] : [warnings.map((warning) => `warning: ${shown(warning)}`).join("\n")],
    ...fix.length === 0 ? [] : [["to change this:", ...fix.map((command) => `  ${shown(command)}`)].join("\n")],
  ];
  return `${parts.join("\n\n")}\n`;
}

/** A line for each workload: verdict and cause. */
export function overviewText(explanations: readonly Explanation[]): string {
  const rows = explanations.map((each) => [each.namespace, each.workload, verdictText(each), each.message]);
  return `${table([["NAMESPACE", "WORKLOAD", "VERDICT", "CAUSE"], ...rows])}\n`;
}

function headline(explanation: Explanation): string {
  const { workload, namespace, message, field } = explanation;
  const where = namespace === "" ? "" : ` in the namespace "${shown(namespace)}"`;
  const why = field === "" ? message : `${message} (${field})`;
  return `${shown(workload)}${where}: ${verdictText(explanation)}\n  ${shown(why)}`;
}

function verdictText(ruling: Ruling): string {
  if (ruling.verdict !== "injected") return ruling.verdict.replace("-", " ");
  return ruling.by === ASSUMED ? "injected" : `injected by ${shown(ruling.by)}`;
}

/** A pod that is refused is not there: it has no sidecar. */
const INJECTED: Readonly<Record<Ruling["verdict"], boolean | null>> = {
  injected: true,
  "not-injected": false,
  refused: false,
  "cannot-tell": null,
};

function ruleRow({ rule, field, value, effect, message }: RuleLine): readonly string[] {
  const text = EFFECTS[effect];
  return [rule, field, value ?? "-", message === "" ? text : `${text}: ${message}`];
}

function podRow({ pod, phase, hasProxy, isNative, isReady, revision, image }: LivePod): readonly string[] {
  const proxy = `${isNative ? "native sidecar" : "container"}, ${isReady ? "ready" : "not ready"}`;
  return [pod, phase || "-", hasProxy ? proxy : "none", revision ?? "-", image ?? "-"];
}

/** Values may be as long as a template. */
const WIDEST = 80;

function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell, index) => index === row.length - 1 ? shown(cell) : cut(shown(cell))));
  return columns(cells).trimEnd();
}

function cut(text: string): string {
  return text.length <= WIDEST ? text : `${text.slice(0, WIDEST - 3)}...`;
}

/** Text from the cluster or a file must not control the terminal. */
function shown(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}

/** One line of JSON; the fields of the contract come first. */
export function explanationJson(explanation: Explanation): string {
  const { workload, verdict, by, reason, rules, live, namespace, field, message, warnings, fix } = explanation;
  const line: ExplanationLine = {
    workload,
    verdict,
    injected: INJECTED[verdict],
    by,
    reason,
    rules: rules.map(({ rule, field, value, effect, message }) => ({ rule, field, value, effect, message })),
    live: live.map(({ pod, phase, hasProxy, isNative, isReady, revision, image }) => {
      return { pod, phase, proxy: hasProxy, native: isNative, ready: isReady, revision, image };
    }),
    namespace,
    field,
    message,
    warnings,
    fix,
  };
  const ordered = (fields: object) => new OrderedFields(Object.entries(fields));
  const nested = { ...line, rules: line.rules.map(ordered), live: line.live.map(ordered) };
  return `${goJson(ordered(nested), { escapeHtml: false })}\n`;
}
