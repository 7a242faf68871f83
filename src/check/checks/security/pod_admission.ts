/** Checks with dry runs that the API server admits an injected pod in each namespace. */
import type { DryRun } from "../../inventory/dry_run.ts";
import { cannotTell, known } from "../../facts.ts";
import type { SidecarNamespace } from "../../inventory/sidecars.ts";
import { type Advice, byHand, harmless, loosening } from "../../advice/advice.ts";
import { edit } from "../../advice/commands.ts";
import { ENFORCE } from "../../policies/obstacles.ts";
import { namedIn, type Problem } from "../findings.ts";
import { ofInjected } from "../namespace_control_plane.ts";

/** Dry runs of injected pods. A refusal is reported only if the same pod is admitted without a sidecar. */
export const podAdmission = ofInjected(async (each, facts) => {
  return judge(each, await facts.dryRunIn(each.namespace, await facts.injectors()));
});

/** Matches the message of ValidatingAdmissionPolicy (k8s.io/apiserver/pkg/admission/plugin/policy/validating). */
const POLICY = /ValidatingAdmissionPolicy '([^']+)' with binding '/;
/** Matches the message of the API server's own pod validation. */
const INVALID = /^Pod "[^"]*" is invalid: /;

function adviceFor({ plane }: SidecarNamespace, message: string): readonly Advice[] {
  const [, policy] = POLICY.exec(message) ?? [];
  if (policy !== undefined) {
    const change = `change the validations of the policy "${policy}" so that they admit the injected containers`;
    const named = { kind: "ValidatingAdmissionPolicy", namespace: "", name: policy };
    return [loosening(change, "cluster", edit(named))];
  }
  if (INVALID.test(message) && plane !== undefined) {
    const change = 'correct the value that the message names, in the key "values" or "config"';
    return [harmless(change, "mesh", edit(namedIn(known(plane.texts).injectorRef)))];
  }
  return [
    byHand("correct the injector's configuration, if the message is about a field of the sidecar", "mesh"),
    byHand("change the policy or webhook that the message names so that it admits sidecars"),
  ];
}

/** Matches refusals that other checks of this category report, with fixes. */
const REPORTED = /exceeded quota|failed quota|(?:minimum|maximum) \S+ usage per|max limit to request ratio/;
const POD_SECURITY = /violates PodSecurity/;

function judge(sidecar: SidecarNamespace, run: DryRun | undefined): readonly Problem[] {
  const { name, namespace } = sidecar;
  if (run === undefined) return [];
  const { outcome, isOfSidecar, message } = run;
  if (outcome === "injected" || outcome === "not-injected" || REPORTED.test(message)) return [];
  if (POD_SECURITY.test(message) && namespace.metadata.labels?.[ENFORCE] !== undefined) return [];
  if (!isOfSidecar) cannotTell(message, `the namespace "${name}"`);
  return [{
    object: `namespace/${name}`,
    result: "error",
    message: `refuses injected pods: ${message}`,
    advice: adviceFor(sidecar, message),
  }];
}
