/** The proof as a command: its report, its log, its exit code. */
import { EXIT, MeshError } from "../../core/errors.ts";
import type { Plan } from "../plan/rule.ts";
import { logText } from "../../core/log.ts";
import { applyOptions, type Job, planOf } from "../job.ts";
import type { FlowResult } from "./flow.ts";
import { differences, rulesFor } from "./missing_rules.ts";
import { resultJson, resultLine, resultTable } from "./report.ts";
import { verifyCapture } from "./verify.ts";

/**
 * Proves that the traffic is captured. Throws `MeshError` with the exit code 126 if a flow escapes, or none of those
 * that the settings promise can be proved. `iptables verify` prints a report, `--run-validation` logs it.
 */
export async function verify(job: Job): Promise<number> {
  const { world, log, settings, names, mode } = job;
  const plan = await planOf(job);
  const results = await verifyCapture(world, { settings, ...plan, names });
  if (!results.some(({ flow }) => flow.kind === "inbound" || flow.kind === "outbound")) log.warn(NOTHING_CAPTURED);
  const proved = results.filter(({ outcome }) => outcome === "proved");
  const isProved = proved.length > 0 && !results.some(({ outcome }) => outcome === "escaped");
  if (mode === "verify") world.stdout.write(reportText(job, results, isProved));
  else {for (const { outcome, ...result } of results) {
      log.info(logText(`${outcome}: ${resultLine(result)}`));
    }}
  if (!isProved) throw await failure(job, plan, results);
  const flows = proved.map(({ flow }) => `IPv${flow.family} ${flow.kind}`).join(", ");
  log.info(`Traffic is captured, as far as this process can prove it: ${flows}`);
  return EXIT.ok;
}

function reportText({ settings: { run } }: Job, results: readonly FlowResult[], isProved: boolean): string {
  return run.output === "json" ? resultJson(results, isProved) : resultTable(results);
}

/** Which flow escaped, and which rules are to blame, as far as this process may see. */
async function failure(job: Job, plan: Plan, results: readonly FlowResult[]): Promise<MeshError> {
  const escaped = results.filter(({ outcome }) => outcome === "escaped");
  const told = (escaped.length === 0 ? results : escaped).map(resultLine).join("; ");
  const head = escaped.length === 0 ? "nothing could be proved" : "traffic escapes";
  const hint = escaped.length === 0 ? NOTHING_PROVED : blame(
    await differences(job.world, plan, applyOptions(job)),
    [...new Set(escaped.flatMap(({ flow }) => rulesFor(plan, flow, job.settings.run.nativeNftables)))],
  );
  const message = `iptables validation failed; workload is not ready for Istio: ${head}: ${told}`;
  return new MeshError(message, { exitCode: EXIT.notCaptured, hint });
}

const NOTHING_CAPTURED =
  "These settings capture neither inbound nor outbound connections: give those that the rules were made with";
const NOTHING_PROVED =
  "run it in the pod's network namespace as the proxy's user, or with the capabilities NET_ADMIN and " +
  "NET_RAW";

/** The differences that were seen; else the rules that have to be there. */
export function blame(found: readonly string[] | undefined, rules: readonly string[]): string {
  const advice = "if the CNI plugin makes the rules, look at its log on the node and delete the pod";
  if (found !== undefined && found.length > 0) return `not as planned: ${some(found)}; ${advice}`;
  const seen = found === undefined
    ? "the rules cannot be read without the capability NET_ADMIN, these have to be there"
    : "all rules are as planned, so that something before them takes the traffic, and these lead it";
  return `${seen}: ${some(rules)}; ${advice}`;
}

const MOST_TOLD = 6;

function some(list: readonly string[]): string {
  const rest = list.length - MOST_TOLD;
  return [...list.slice(0, MOST_TOLD), ...(rest > 0 ? [`and ${rest} more`] : [])].join("; ");
}
