/** Whether the API server admits an injected pod in each namespace, by dry runs. */
import { injectorWebhooks } from "../../inventory/injector_webhooks.ts";
import type { DryRun } from "../../inventory/dry_run.ts";
import { type Inventory, isKnown, type Observed } from "../../inventory/mod.ts";
import type { SidecarNamespace } from "../../inventory/sidecars.ts";
import type { Finding } from "../../check.ts";
import { cannotTell, findingOf, type Problem } from "../findings.ts";

/** Dry runs in flight. */
const AT_ONCE = 8;

/**
 * Validating policies, validating webhooks and the API server's own validation see the injected pod. A refusal counts
 * if the same pod is admitted without a sidecar.
 */
export async function podAdmission(inventory: Inventory): Promise<Finding> {
  const [sidecars, configurations] = await Promise.all([inventory.sidecars(), inventory.mutatingWebhooks()]);
  if (!isKnown(configurations)) return cannotTell(configurations);
  if (!isKnown(sidecars)) return cannotTell(sidecars);
  const injected = sidecars.value.filter(({ planned }) => !planned);
  if (injected.length === 0) return { result: "skipped", message: "no namespace is injected" };
  const webhooks = injectorWebhooks(configurations.value);
  const judged: Judged[] = [];
  for (let start = 0; start < injected.length; start += AT_ONCE) {
    const batch = injected.slice(start, start + AT_ONCE);
    judged.push(
      ...await Promise.all(batch.map(async (each) => judge(each, await inventory.dryRunIn(each.namespace, webhooks)))),
    );
  }
  const problems = judged.flatMap(({ problem }) => problem ?? []);
  const [unknown] = judged.flatMap(({ unknown }) => unknown ?? []);
  return problems.length === 0 && unknown !== undefined ? unknown : findingOf(problems);
}

/** A problem, an unknown result, or nothing. */
interface Judged {
  readonly problem?: Problem;
  readonly unknown?: Finding;
}

/** Other checks of this category report these, with their fixes. */
const REPORTED = /exceeded quota|failed quota|(minimum|maximum) .* usage per|max limit to request ratio/;
const POD_SECURITY = /violates PodSecurity/;
const ENFORCE = "pod-security.kubernetes.io/enforce";

function judge({ name, namespace }: SidecarNamespace, run: Observed<DryRun | undefined>): Judged {
  if (!isKnown(run)) return { unknown: cannotTell(run) };
  const { outcome, isOfSidecar, message } = run.value ?? { outcome: "injected", isOfSidecar: false, message: "" };
  if (outcome === "injected" || outcome === "not-injected" || REPORTED.test(message)) return {};
  if (POD_SECURITY.test(message) && namespace.metadata.labels?.[ENFORCE] !== undefined) return {};
  if (!isOfSidecar) {
    return { unknown: { result: "unknown", message: `cannot tell for the namespace "${name}": ${message}` } };
  }
  return { problem: { object: `namespace/${name}`, result: "error", message: `refuses injected pods: ${message}` } };
}
