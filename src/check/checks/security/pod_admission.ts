/** Whether the API server admits an injected pod in each namespace, by dry runs. */
import { injectorWebhooks } from "../../inventory/injector_webhooks.ts";
import type { DryRun } from "../../inventory/dry_run.ts";
import { cannotTell, type Facts, inEach } from "../../facts.ts";
import type { SidecarNamespace } from "../../inventory/sidecars.ts";
import { byHand } from "../../advice/advice.ts";
import type { Finding } from "../../check.ts";
import { findingOf, type Problem } from "../findings.ts";

/**
 * Validating policies, validating webhooks and the API server's own validation see the injected pod. A refusal counts
 * if the same pod is admitted without a sidecar.
 */
export async function podAdmission(facts: Facts): Promise<Finding> {
  const [configurations, sidecars] = await Promise.all([facts.mutatingWebhooks(), facts.sidecars()]);
  const injected = sidecars.filter(({ planned }) => !planned);
  if (injected.length === 0) return { result: "skipped", message: "no namespace is injected" };
  const webhooks = injectorWebhooks(configurations);
  return findingOf(
    await inEach(injected, async (each) => judge(each, await facts.dryRunIn(each.namespace, webhooks))),
    ADVICE,
  );
}

const ADVICE = [
  byHand("correct the injector's configuration, if the message is about a field of the sidecar", "mesh"),
  byHand("let the policy or webhook that the message names admit sidecars"),
];

/** Other checks of this category report these, with their fixes. */
const REPORTED = /exceeded quota|failed quota|(minimum|maximum) .* usage per|max limit to request ratio/;
const POD_SECURITY = /violates PodSecurity/;
const ENFORCE = "pod-security.kubernetes.io/enforce";

function judge({ name, namespace }: SidecarNamespace, run: DryRun | undefined): readonly Problem[] {
  if (run === undefined) return [];
  const { outcome, isOfSidecar, message } = run;
  if (outcome === "injected" || outcome === "not-injected" || REPORTED.test(message)) return [];
  if (POD_SECURITY.test(message) && namespace.metadata.labels?.[ENFORCE] !== undefined) return [];
  if (!isOfSidecar) cannotTell(message, `the namespace "${name}"`);
  return [{ object: `namespace/${name}`, result: "error", message: `refuses injected pods: ${message}` }];
}
