import { cannotTell } from "./findings.ts";
import type { Check, Finding } from "../check.ts";
import { FIRST } from "../choose.ts";
import { type Inventory, isKnown, reason } from "../inventory/mod.ts";
import { injectorWebhooks } from "../inventory/injector_webhooks.ts";
import { ADMISSION, admissionOf } from "./kubernetes_api/admission.ts";
import { aggregatorRouting } from "./kubernetes_api/aggregator_routing.ts";

/** The first version with admissionregistration.k8s.io/v1 (Kubernetes, "Deprecated API Migration Guide", v1.16). */
const OLDEST = { major: 1, minor: 16 };

/** Whether the API server answers, and can call webhooks at all. */
export const KUBERNETES_API_CHECKS: readonly Check[] = [
  {
    id: FIRST,
    category: "kubernetes-api",
    title: "the Kubernetes API is reachable",
    needs: [],
    pre: true,
    run: reachable,
  },
  {
    id: "api-version",
    category: "kubernetes-api",
    title: "the Kubernetes version is supported",
    needs: [],
    pre: true,
    run: version,
  },
  {
    id: "api-admission-registration",
    category: "kubernetes-api",
    title: "the admission registration API is served",
    needs: [],
    pre: true,
    run: admissionRegistration,
  },
  {
    id: "api-mutating-admission",
    category: "kubernetes-api",
    title: "the API server calls mutating webhooks",
    needs: ["api-admission-registration"],
    pre: true,
    run: async (inventory) =>
      await pluginFinding(inventory, "MutatingAdmissionWebhook") ?? await seenMutating(inventory),
  },
  {
    id: "api-validating-admission",
    category: "kubernetes-api",
    title: "the API server calls validating webhooks",
    needs: ["api-admission-registration"],
    pre: true,
    run: async (inventory) => {
      if (inventory.scope.namespace !== undefined) return NOT_ASKED;
      return await pluginFinding(inventory, "ValidatingAdmissionWebhook") ?? NOT_SHOWN;
    },
  },
  {
    id: "api-aggregator-routing",
    category: "kubernetes-api",
    title: "the API server reaches Services",
    needs: [],
    pre: true,
    run: aggregatorRouting,
  },
];

/** Status 403 is an answer too. */
async function reachable(inventory: Inventory): Promise<Finding> {
  const version = await inventory.version();
  if (isKnown(version)) return { result: "ok", message: inventory.server };
  return "forbidden" in version ? { result: "ok" } : { result: "error", message: reason(version) };
}

async function version(inventory: Inventory): Promise<Finding> {
  const version = await inventory.version();
  if (!isKnown(version)) return cannotTell(version);
  const { text, major, minor } = version.value;
  if (Number.isNaN(major) || Number.isNaN(minor)) {
    return { result: "unknown", message: `cannot tell: the server calls its version "${text}"` };
  }
  if (major > OLDEST.major || minor >= OLDEST.minor) return { result: "ok", message: text };
  const oldest = `${OLDEST.major}.${OLDEST.minor}`;
  return { result: "error", message: `the server is ${text}, the oldest supported version is ${oldest}: upgrade it` };
}

async function admissionRegistration(inventory: Inventory): Promise<Finding> {
  const groups = await inventory.apiGroups();
  if (!isKnown(groups)) return cannotTell(groups);
  if (groups.value.includes(ADMISSION)) return { result: "ok", message: ADMISSION };
  return {
    result: "error",
    message: `the API server does not serve ${ADMISSION}: see --runtime-config of kube-apiserver`,
  };
}

const NOT_SHOWN: Finding = {
  result: "unknown",
  message: "cannot tell: the kube-apiserver pods are not visible, as on managed clusters",
};

const NOT_ASKED: Finding = { result: "skipped", message: "it needs pods of another namespace than --namespace" };

/** What the command line of kube-apiserver shows; `undefined` if its pods are not visible. */
async function pluginFinding(inventory: Inventory, plugin: string): Promise<Finding | undefined> {
  const pods = await inventory.apiServerPods();
  if (!isKnown(pods) || pods.value.length === 0) return undefined;
  const wrong = pods.value.flatMap((pod) => {
    const objection = admissionOf(pod, plugin);
    return objection === undefined ? [] : [{ pod: `pod/kube-system/${pod.metadata.name}`, objection }];
  });
  const [first] = wrong;
  if (first === undefined) return { result: "ok" };
  return {
    result: "error",
    message: `${first.pod} runs without the admission plugin ${plugin}: ${first.objection}`,
    objects: wrong.map(({ pod }) => pod),
  };
}

/** A dry run that returns a sidecar, or is denied by a webhook, went through a webhook. */
async function seenMutating(inventory: Inventory): Promise<Finding> {
  const configurations = await inventory.mutatingWebhooks();
  const webhooks = isKnown(configurations) ? injectorWebhooks(configurations.value) : [];
  for (const webhook of webhooks) {
    const run = await inventory.dryRun(webhook);
    if (!isKnown(run) || run.value === undefined) continue;
    if (run.value.outcome === "injected" || run.value.webhook === webhook.name) {
      return { result: "ok", message: "confirmed by a dry run" };
    }
  }
  return NOT_SHOWN;
}
