import type { CheckRow } from "../check.ts";
import { bundleValid } from "./webhook/ca_bundle.ts";
import { chainKeepsSidecar } from "./webhook/chain.ts";
import { clockSkew } from "./kubernetes_api.ts";
import { exists, revisionTags } from "./webhook/configurations.ts";
import { failurePolicy } from "./webhook/failure_policy.ts";
import { bundleIsUnmanaged } from "./webhook/gitops.ts";
import { type InjectorsJudge, overInjectors } from "./webhook/injectors.ts";
import { noOverlap } from "./webhook/overlap.ts";
import { notItsOwn } from "./webhook/own_namespace.ts";
import { reachable } from "./webhook/reachable.ts";
import { endpointsReady, serviceExists } from "./webhook/service.ts";
import { trustAgrees } from "./webhook/trust.ts";
import { validationAnswers } from "./webhook/validation.ts";

const EXISTS = "webhook-exists";
const SERVICE = "webhook-service";

/** Checks of all injection webhooks in the scope. Each needs the check `EXISTS`, unless it names other needs. */
const OF_INJECTORS: readonly (Omit<CheckRow, "run"> & { readonly judge: InjectorsJudge })[] = [
  { id: EXISTS, title: "an injection webhook is configured", needs: ["api-admission-registration"], judge: exists },
  { id: "webhook-overlap", title: "no pod matches two injection webhooks", judge: noOverlap },
  { id: "webhook-revision-tags", title: "revision tags point to installed revisions", judge: revisionTags },
  {
    id: "webhook-failure-policy",
    title: "no pod starts without a sidecar while the webhook is down",
    judge: failurePolicy,
  },
  { id: "webhook-own-namespace", title: "the webhook is not called for its own pods", judge: notItsOwn },
  { id: SERVICE, title: "the webhook Service exists with its port", judge: serviceExists },
  { id: "webhook-endpoints", title: "webhook pods are ready", needs: [SERVICE], judge: endpointsReady },
  { id: "webhook-ca-bundle", title: "the caBundle is valid and does not expire soon", judge: bundleValid },
  { id: "webhook-certificate", title: "the caBundle matches the webhook certificate", judge: trustAgrees },
  { id: "webhook-reachable", title: "the API server reaches the webhook", judge: reachable },
];

/** The category webhook: checks that injection webhooks exist, are correct, and respond. */
export const WEBHOOK_CHECKS: readonly CheckRow[] = [
  ...OF_INJECTORS.map(({ judge, ...row }) => ({ needs: [EXISTS], ...row, run: overInjectors(judge) })),
  {
    id: "webhook-chain",
    title: "other webhooks do not change the sidecar",
    needs: [EXISTS],
    run: chainKeepsSidecar,
  },
  {
    id: "webhook-gitops",
    title: "GitOps controllers do not overwrite the caBundle",
    needs: [EXISTS],
    run: bundleIsUnmanaged,
  },
  {
    id: "webhook-validation",
    title: "the validating webhook of Istio responds",
    needs: ["api-admission-registration"],
    run: validationAnswers,
  },
  { id: "clock-skew", title: "the API server clock is correct", pre: true, run: clockSkew },
];
