/** `iptables verify` and `--run-validation`: report, log and exit code. */
import { EXIT, MeshError } from "../../core/errors.ts";
import type { Plan } from "../plan/rule.ts";
import { logText } from "../../core/log.ts";
import { applyOptions, type Job, planOf } from "../job.ts";
import type { FlowResult } from "./flows.ts";
import { differences, rulesFor } from "./missing_rules.ts";
import { resultJson, resultLine, resultTable } from "./report.ts";
import { verifyCapture } from "./verify.ts";

/**
 * Proves that traffic is captured. `iptables verify` prints a report, `--run-validation` logs it. Throws a `MeshError` with
 * exit code 126 if a flow escapes, or if no flow can be proved.
 */
export async function verify(job: Job): Promise<number> {
  const { world, log, settings, names, mode } = job;
  const plan = await planOf(job);
  const results = await verifyCapture(world, { settings, ...plan, names });
  if (!results.some(({ flow }) => flow.kind === "inbound" || flow.kind === "outbound")) log.warn(NOTHING_CAPTURED);
  const proved = results.filter(({ outcome }) => outcome === "proved");
  const isProved = proved.length > 0 && !results.some(({ outcome }) => outcome === "escaped");
  if (mode === "verify") {
    const isJson = settings.run.output === "json";
    world.stdout.write(isJson ? resultJson(results, isProved) : resultTable(results));
  } else results.forEach((result) => log.info(logText(`${result.outcome}: ${resultLine(result)}`)));
  if (!isProved) throw await failure(job, plan, results);
  const flows = proved.map(({ flow }) => `IPv${flow.family} ${flow.kind}`).join(", ");
  log.info(`Traffic is captured, as far as this process can prove it: ${flows}`);
  return EXIT.ok;
}

/** Names the flows that escaped and, as far as this process may read them, the rules to look at. */
async function failure(job: Job, plan: Plan, results: readonly FlowResult[]): Promise<MeshError> {
  const escaped = results.filter(({ outcome }) => outcome === "escaped");
  const isEscape = escaped.length > 0;
  const hint = isEscape
    ? blame(
      await differences(job.world, plan, applyOptions(job)),
      [...new Set(escaped.flatMap(({ flow }) => rulesFor(plan, flow, job.settings.run.nativeNftables)))],
    )
    : NOTHING_PROVED;
  const flows = (isEscape ? escaped : results).map(resultLine).join("; ");
  const message = "iptables validation failed; workload is not ready for Istio: " +
    `${isEscape ? "traffic escapes" : "no flow can be proved"}: ${flows}`;
  return new MeshError(message, { exitCode: EXIT.notCaptured, hint });
}

const NOTHING_CAPTURED =
  "These settings capture neither inbound nor outbound connections: use the flags that the rules were made with";
const NOTHING_PROVED =
  "run it in the pod's network namespace, as the proxy's user or with the capabilities NET_ADMIN and NET_RAW";

/** The differences, if any were found; else the rules that the flows depend on. */
export function blame(found: readonly string[] | undefined, rules: readonly string[]): string {
  const advice = "if the CNI plugin makes the rules, look at its log on the node and delete the pod";
  if (found !== undefined && found.length > 0) return `not as planned: ${some(found)}; ${advice}`;
  const seen = found === undefined
    ? "the rules cannot be read without the capability NET_ADMIN; these are required"
    : "all rules are as planned, so other rules handle the traffic first; these are required";
  return `${seen}: ${some(rules)}; ${advice}`;
}

const MOST_TOLD = 6;

function some(list: readonly string[]): string {
  const rest = list.length - MOST_TOLD;
  return [...list.slice(0, MOST_TOLD), ...(rest > 0 ? [`and ${rest} more`] : [])].join("; ");
}
