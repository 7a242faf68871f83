/** Builds the MutatingWebhookConfigurations, as in Istio's chart (manifests/charts/istio-control/istio-discovery). */
import type { Value, ValueMap } from "../../base/value.ts";
import { configurationNames, DEFAULT_REVISION, type Plan } from "./options.ts";
import { selectorExpressions } from "../../kube/text/selector_text.ts";

const INJECTION = "istio-injection";
const REVISION = "istio.io/rev";
const INJECT = "sidecar.istio.io/inject";
/** A label that Kubernetes adds to every namespace. */
const NAMESPACE_NAME = "kubernetes.io/metadata.name";

/** One webhook of a configuration, with the selectors of its namespaces and pods. */
interface Row {
  readonly prefix: string;
  /** The webhook exists only for the default revision: it selects by labels that do not name a revision. */
  readonly isDefaultOnly: boolean;
  readonly namespaces: (revision: string) => readonly ValueMap[];
  readonly pods: (revision: string) => readonly ValueMap[];
}

const ROWS: readonly Row[] = [
  {
    prefix: "rev.namespace",
    isDefaultOnly: false,
    namespaces: (revision) => [isIn(REVISION, revision), isAbsent(INJECTION)],
    pods: () => [isNotIn(INJECT, "false")],
  },
  {
    prefix: "rev.object",
    isDefaultOnly: false,
    namespaces: () => [isAbsent(REVISION), isAbsent(INJECTION)],
    pods: (revision) => [isNotIn(INJECT, "false"), isIn(REVISION, revision)],
  },
  {
    prefix: "namespace",
    isDefaultOnly: true,
    namespaces: () => [isIn(INJECTION, "enabled")],
    pods: () => [isNotIn(INJECT, "false")],
  },
  {
    prefix: "object",
    isDefaultOnly: true,
    namespaces: () => [isAbsent(INJECTION), isAbsent(REVISION)],
    pods: () => [isIn(INJECT, "true"), isAbsent(REVISION)],
  },
];

function isIn(key: string, ...values: string[]): ValueMap {
  return { key, operator: "In", values };
}

function isNotIn(key: string, ...values: string[]): ValueMap {
  return { key, operator: "NotIn", values };
}

function isAbsent(key: string): ValueMap {
  return { key, operator: "DoesNotExist" };
}

/**
 * Returns one configuration for the revision and one for each tag. All exclude the webhook's namespace, so that an
 * outage does not block the webhook's own pods. Throws a `UsageError` for an invalid selector.
 */
export function mutatingConfigurations(plan: Plan): ValueMap[] {
  return configurationNames(plan).map((name, index) => {
    const tag = index === 0 ? undefined : plan.tags[index - 1];
    return {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: {
        name,
        labels: {
          app: "sidecar-injector",
          "app.kubernetes.io/name": plan.name,
          [REVISION]: plan.revision,
          ...(tag === undefined ? {} : { "istio.io/tag": tag }),
        },
      },
      webhooks: webhooks(plan, tag ?? plan.revision),
    };
  });
}

function webhooks(plan: Plan, revision: string): ValueMap[] {
  const everywhere = [isNotIn(NAMESPACE_NAME, plan.namespace), ...selectorExpressions(plan.namespaceSelector, FLAG)];
  return ROWS.filter(({ isDefaultOnly }) => !isDefaultOnly || revision === DEFAULT_REVISION).map((row) => ({
    name: `${row.prefix}.sidecar-injector.istio.io`,
    ...call(plan),
    namespaceSelector: { matchExpressions: [...row.namespaces(revision), ...everywhere] },
    objectSelector: { matchExpressions: [...row.pods(revision)] },
  }));
}

const FLAG = "--namespace-selector";

/** Fields of every webhook. Includes the API server's defaults, so that `kubectl diff` shows no difference. */
function call({ name, namespace, failurePolicy, servicePort }: Plan): Record<string, Value> {
  return {
    admissionReviewVersions: ["v1", "v1beta1"],
    clientConfig: { service: { name, namespace, path: "/inject", port: servicePort } },
    failurePolicy,
    matchPolicy: "Equivalent",
    // Run again if a later webhook adds a container: its probes and ports need the same changes.
    reinvocationPolicy: "IfNeeded",
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "*" }],
    sideEffects: "None",
    timeoutSeconds: 10,
  };
}
