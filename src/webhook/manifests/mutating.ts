/** Builds the MutatingWebhookConfigurations, as in Istio's chart (manifests/charts/istio-control/istio-discovery). */
import type { Value, ValueMap } from "../../base/value.ts";
import { configurationNames, DEFAULT_REVISION, type Plan } from "./options.ts";
import { selectorExpressions } from "../../kube/text/selector_text.ts";

const REVISION = "istio.io/rev";

/** One webhook of a configuration, with the selectors of its namespaces and pods. */
interface Row {
  readonly prefix: string;
  readonly namespaces: (revision: string) => string;
  readonly pods: (revision: string) => string;
}

/** The webhooks of every revision. */
const ROWS: readonly Row[] = [
  {
    prefix: "rev.namespace",
    namespaces: (revision) => `istio.io/rev in (${revision}),!istio-injection`,
    pods: () => "sidecar.istio.io/inject notin (false)",
  },
  {
    prefix: "rev.object",
    namespaces: () => "!istio.io/rev,!istio-injection",
    pods: (revision) => `sidecar.istio.io/inject notin (false),istio.io/rev in (${revision})`,
  },
];

/** The webhooks of the default revision only: they select by labels that do not name a revision. */
const DEFAULT_ROWS: readonly Row[] = [
  {
    prefix: "namespace",
    namespaces: () => "istio-injection in (enabled)",
    pods: () => "sidecar.istio.io/inject notin (false)",
  },
  {
    prefix: "object",
    namespaces: () => "!istio-injection,!istio.io/rev",
    pods: () => "sidecar.istio.io/inject in (true),!istio.io/rev",
  },
];

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
  const rows = revision === DEFAULT_REVISION ? [...ROWS, ...DEFAULT_ROWS] : ROWS;
  return rows.map(({ prefix, namespaces, pods }) => ({
    name: `${prefix}.sidecar-injector.istio.io`,
    ...call(plan),
    namespaceSelector: {
      matchExpressions: [
        ...selectorExpressions(`${namespaces(revision)},kubernetes.io/metadata.name notin (${plan.namespace})`, prefix),
        ...selectorExpressions(plan.namespaceSelector, "--namespace-selector"),
      ],
    },
    objectSelector: { matchExpressions: selectorExpressions(pods(revision), prefix) },
  }));
}

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
