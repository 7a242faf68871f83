import { byHand, look } from "../advice/advice.ts";
import { shows } from "../advice/commands.ts";
import type { CheckRow, Finding } from "../check.ts";
import { FIRST } from "../choose.ts";
import { cannotTell, type Facts, firstKnown } from "../facts.ts";
import { fixesBy } from "./findings.ts";
import { LABEL } from "../../istio/annotations/labels.ts";
import { type DryRun, isUncalled, podToTry } from "../inventory/dry_run.ts";
import type { InjectorWebhook } from "../inventory/injector_webhooks.ts";
import { ADMISSION, admissionOf } from "./kubernetes_api/admission.ts";
import { aggregatorRouting } from "./kubernetes_api/aggregator_routing.ts";
import { gatewayCrds } from "./kubernetes_api/gateway_crds.ts";
import { installRights } from "./kubernetes_api/install_rights.ts";

/** The first version with admissionregistration.k8s.io/v1 (Kubernetes, "Deprecated API Migration Guide"). */
const OLDEST = { major: 1, minor: 16 };

/** The category kubernetes-api: checks that the API server responds and can call webhooks. */
export const KUBERNETES_API_CHECKS: readonly CheckRow[] = [
  { id: FIRST, title: "the Kubernetes API is reachable", pre: true, run: reachable },
  { id: "api-version", title: "the Kubernetes version is supported", pre: true, run: version },
  {
    id: "api-admission-registration",
    title: "the admission registration API is served",
    pre: true,
    run: admissionRegistration,
  },
  {
    id: "api-mutating-admission",
    title: "the API server calls mutating webhooks",
    needs: ["api-admission-registration"],
    pre: true,
    run: async (facts) =>
      await firstKnown([
        () => pluginFinding(facts, "MutatingAdmissionWebhook"),
        () => seenMutating(facts),
        () => seenInScope(facts),
      ]) ??
        NOT_SHOWN,
  },
  {
    id: "api-validating-admission",
    title: "the API server calls validating webhooks",
    needs: ["api-admission-registration"],
    pre: true,
    run: async (facts) => {
      if (facts.scope.namespace !== undefined) return NOT_ASKED;
      return await pluginFinding(facts, "ValidatingAdmissionWebhook") ?? NOT_SHOWN;
    },
  },
  { id: "api-aggregator-routing", title: "the API server reaches Services", pre: true, run: aggregatorRouting },
  { id: "api-gateway-crds", title: "Istio reads the CRDs of the Gateway API", pre: true, run: gatewayCrds },
  { id: "api-install-rights", title: "you may install Istio", pre: true, run: installRights },
];

async function reachable({ answers, server, serverFlag }: Facts): Promise<Finding> {
  const { failed } = await answers();
  if (failed === undefined) return { result: "ok", message: server };
  return {
    result: "error",
    message: failed,
    fixes: fixesBy(
      serverFlag === undefined
        ? byHand("choose the cluster with --context or --kubeconfig, or sign in again", "nothing")
        : byHand("correct the address in --server", "nothing"),
      look(
        "see whether kubectl reaches the cluster",
        shows("version", ...serverFlag === undefined ? [] : ["--server", server]),
      ),
    ),
  };
}

async function version(facts: Facts): Promise<Finding> {
  const { text, major, minor } = await facts.version();
  if (Number.isNaN(major) || Number.isNaN(minor)) return cannotTell(`the server reports the version "${text}"`);
  if (major > OLDEST.major || minor >= OLDEST.minor) return { result: "ok", message: text };
  const oldest = `${OLDEST.major}.${OLDEST.minor}`;
  return {
    result: "error",
    message: `the server is ${text}, the oldest supported version is ${oldest}`,
    fixes: fixesBy(byHand("upgrade the cluster")),
  };
}

async function admissionRegistration(facts: Facts): Promise<Finding> {
  if ((await facts.apiGroups()).includes(ADMISSION)) return { result: "ok", message: ADMISSION };
  return {
    result: "error",
    message: `the API server does not serve ${ADMISSION}`,
    fixes: fixesBy(byHand("enable this API in --runtime-config of kube-apiserver")),
  };
}

const NOT_SHOWN: Finding = {
  result: "unknown",
  message: "cannot tell: the kube-apiserver pods are not visible, as on managed clusters",
};

const NOT_ASKED: Finding = { result: "skipped", message: "the check needs pods outside the namespace of --namespace" };

/** Judges the flags of kube-apiserver; `undefined` if its pods are not visible. */
async function pluginFinding(facts: Facts, plugin: string): Promise<Finding | undefined> {
  const pods = await facts.apiServerPods();
  if (pods.length === 0) return undefined;
  const wrong = pods.flatMap((pod) => {
    const objection = admissionOf(pod, plugin);
    return objection === undefined ? [] : [{ pod: `pod/kube-system/${pod.metadata.name}`, objection }];
  });
  const [first] = wrong;
  if (first === undefined) return { result: "ok" };
  return {
    result: "error",
    message: `${first.pod} runs without the admission plugin ${plugin}: ${first.objection}`,
    objects: wrong.map(({ pod }) => pod),
    fixes: fixesBy(byHand(`enable ${plugin} in the flags of kube-apiserver`)),
  };
}

/**
 * Judges by dry runs whether webhooks are called. A webhook was called if the pod has a sidecar, if the webhook denied
 * the pod, or if the call failed.
 */
async function seenMutating(facts: Facts): Promise<Finding | undefined> {
  const webhooks = await facts.injectors();
  return await firstKnown([
    ...webhooks.map((webhook) => async (): Promise<Finding | undefined> => {
      const run = await facts.dryRun(webhook);
      const isCalled = run?.outcome === "injected" || run?.webhook === webhook.name;
      return isCalled ? { result: "ok", message: "confirmed by a dry run" } : undefined;
    }),
    ...webhooks.map((webhook) => async () => uncalled(webhook, await facts.dryRun(webhook))),
  ]);
}

/** Returns `ok` if a pod gets a sidecar in a dry run. This needs no right to read webhooks. */
async function seenInScope({ scope: { namespace }, dryRunOf }: Facts): Promise<Finding | undefined> {
  if (namespace === undefined) return undefined;
  const { outcome } = await dryRunOf(namespace, podToTry({ [LABEL.inject]: "true" }));
  return outcome === "injected" ? { result: "ok", message: "confirmed by a dry run" } : undefined;
}

/** Reports a webhook that was not called. Skips webhooks with match conditions, which "webhook-reachable" evaluates. */
function uncalled(webhook: InjectorWebhook, run: DryRun | undefined): Finding | undefined {
  if (run === undefined || webhook.matchConditions.length > 0 || !isUncalled(webhook, run)) return undefined;
  return {
    result: "error",
    message: `a pod in the namespace "${run.namespace}" is created without a sidecar, although failurePolicy of ` +
      `"${webhook.name}" is Fail`,
    fixes: fixesBy(byHand("enable MutatingAdmissionWebhook in the flags of kube-apiserver")),
  };
}

/** Maximum clock difference, in milliseconds. Issuers backdate certificates by about a minute. */
const MAX_SKEW = 60_000;

/** Checks the API server's clock. With a large skew, certificates and tokens look expired or not yet valid. */
export async function clockSkew(facts: Facts): Promise<Finding> {
  const { ahead } = await facts.version();
  if (ahead === undefined) return cannotTell("the server sends no Date header");
  if (Math.abs(ahead) <= MAX_SKEW) return { result: "ok" };
  const seconds = Math.round(Math.abs(ahead) / 1000);
  return {
    result: "warning",
    message: `the API server is ${seconds} s ${ahead > 0 ? "ahead of" : "behind"} this machine: certificates may be ` +
      `"not yet valid" on one side`,
    fixes: fixesBy(byHand("synchronize the clocks with NTP")),
  };
}
