/** Runs `iptables verify` and `--run-validation`: prints the report, logs, and returns the exit code. */
import { EXIT, MeshError } from "../../base/errors.ts";
import type { Plan } from "../plan/rule.ts";
import { logText } from "../../platform/log.ts";
import { pending } from "../apply/apply.ts";
import { tableWidthOf } from "../../platform/terminal.ts";
import { applyOptions, type Job, planOf } from "../job.ts";
import { capturedDirections, checkRequired, DIRECTIONS, NOTHING_CAPTURED } from "../settings/directions.ts";
import type { Direction, Required } from "../settings/settings.ts";
import { withHeldSettings } from "./held_settings.ts";
import type { FlowResult } from "./flows.ts";
import { rulesFor } from "./missing_rules.ts";
import { resultJson, resultLine, resultTable } from "./report.ts";
import { verifyCapture } from "./verify.ts";

/**
 * Verifies the rules. `iptables verify` prints a report, `--run-validation` logs it. Throws a `MeshError` with exit
 * code 126 if a flow escapes, or if no flow can be proved.
 */
export async function verify(asked: Job): Promise<number> {
  const job = await withHeldSettings(asked);
  const { world, log, settings: { capture, run }, mode } = job;
  const captured = capturedDirections(capture);
  if (mode !== "verify" && captured.length === 0) log.warn(NOTHING_CAPTURED);
  if (mode === "verify") checkCaptured(job, captured);
  const plan = await planOf(job);
  const results = await verifyCapture(world, { ...job, ...plan });
  const isProved = isWhole(results, run.require);
  if (mode === "verify") {
    world.stdout.write(
      run.output === "json" ? resultJson(results, isProved) : resultTable(results, tableWidthOf(world)),
    );
  } else results.forEach((result) => log.info(logText(`${result.outcome}: ${resultLine(result)}`)));
  if (!isProved) throw await failure(job, plan, results);
  const flows = results.filter(({ outcome }) => outcome === "proved").map(({ flow }) =>
    `IPv${flow.family} ${flow.kind}`
  ).join(", ");
  log.info(`Traffic is captured. Proved flows: ${flows}`);
  const free = DIRECTIONS.filter((direction) => !captured.includes(direction));
  if (free.length === 1) log.warn(`${free[0]} connections are not captured, because the settings do not request it`);
  return EXIT.ok;
}

/** Whether no flow escaped, at least one flow was proved, and each required direction has a proved flow. */
function isWhole(results: readonly FlowResult[], required: Required): boolean {
  const proved = results.filter(({ outcome }) => outcome === "proved").map(({ flow }) => flow.kind);
  const wanted = DIRECTIONS.filter((direction) => required === "both" || required === direction);
  return proved.length > 0 && !results.some(({ outcome }) => outcome === "escaped") &&
    wanted.every((direction) => proved.includes(direction));
}

function checkCaptured({ world, settings: { run } }: Job, captured: readonly Direction[]): void {
  if (captured.length === 0 && run.output === "json") world.stdout.write(resultJson([], false));
  checkRequired(run.require, captured, "The rules");
  if (captured.length > 0) return;
  throw new MeshError("Neither inbound nor outbound connections are captured", {
    exitCode: EXIT.notCaptured,
    hint: "Apply rules that capture them: kubectl mesh iptables apply -b '*' -i '*'",
  });
}

/** Builds the error with the escaped flows and, if this process can read the rules, the rules to check. */
async function failure(job: Job, plan: Plan, results: readonly FlowResult[]): Promise<MeshError> {
  const escaped = results.filter(({ outcome }) => outcome === "escaped");
  const shown = escaped.length > 0 ? escaped : results.filter(({ outcome }) => outcome !== "proved");
  const names = [...new Set(shown.map(({ flow }) => flow.kind))].join(", ");
  const [message, hint, rules] = escaped.length > 0
    ? [`Traffic escapes: ${names}`, CNI, await blamed(job, plan, escaped)] as const
    : [`Capture could not be proved: ${names}`, NOTHING_PROVED, []] as const;
  const prefix = job.mode === "verify" ? "" : "iptables validation failed; workload is not ready for Istio: ";
  const rest = [...shown.map(resultLine), ...rules];
  return new MeshError(`${prefix}${message}`, { exitCode: EXIT.notCaptured, hint, rest });
}

async function blamed(job: Job, plan: Plan, escaped: readonly FlowResult[]): Promise<string[]> {
  const found = await pending(job.world, plan, applyOptions(job)).catch((error: unknown) => {
    if (!(error instanceof MeshError)) throw error;
  });
  const rules = escaped.flatMap(({ flow }) => rulesFor(plan, flow, job.settings.run.nativeNftables));
  return blame(found?.differences, [...new Set(rules)]);
}

const CNI = "if the CNI plugin applies the rules, check its log on the node and delete the pod";
const NOTHING_PROVED =
  "run the command in the pod's network namespace, as the proxy's user or with the capabilities NET_ADMIN and NET_RAW";

/** Lists the differences, one per line. If there are none, lists the rules that the flows depend on. */
export function blame(found: readonly string[] | undefined, rules: readonly string[]): string[] {
  if (found !== undefined && found.length > 0) return listed("not as planned", found);
  const seen = found === undefined
    ? "the rules cannot be read without the capability NET_ADMIN; the failed flows depend on"
    : "all rules are as planned, so other programs' rules probably handle the traffic first; the failed flows depend on";
  return listed(seen, rules);
}

const MAX_SHOWN = 6;

function listed(what: string, list: readonly string[]): string[] {
  const rest = list.length - MAX_SHOWN;
  return [...list.slice(0, MAX_SHOWN).map((each) => `${what}: ${each}`), ...(rest > 0 ? [`and ${rest} more`] : [])];
}
