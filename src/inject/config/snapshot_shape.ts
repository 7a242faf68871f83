/** The shape of a snapshot; the source of its JSON Schema. */
import type { Shape } from "./shape.ts";

const TEXTS = { list: "text" } as const;
const STRINGS = { map: "text" } as const;

const SELECTOR = {
  fields: {
    "matchLabels?": STRINGS,
    "matchExpressions?": { list: { fields: { key: "text", operator: "text", "values?": TEXTS } } },
  },
} as const;

const WEBHOOK = {
  fields: {
    name: "text",
    "failurePolicy?": "text",
    "reinvocationPolicy?": "text",
    "timeoutSeconds?": "number",
    "namespaceSelector?": SELECTOR,
    "objectSelector?": SELECTOR,
    "matchConditions?": { list: { fields: { name: "text", expression: { is: "text", about: "in CEL" } } } },
    "clientConfig?": {
      fields: {
        "url?": "text",
        "service?": { fields: { namespace: "text", name: "text", "path?": "text", "port?": "number" } },
      },
    },
    "rules?": { list: { fields: { "operations?": TEXTS, "resources?": TEXTS, "apiGroups?": TEXTS } } },
  },
} as const;

const OBJECT = {
  fields: {
    apiVersion: "text",
    kind: { is: "text", about: "ConfigMap, MutatingWebhookConfiguration or Namespace; others are not read" },
    metadata: { fields: { name: "text", "namespace?": "text", "labels?": STRINGS } },
    "data?": { is: STRINGS, about: "of a ConfigMap: `config`, `values`, `mesh`" },
    "webhooks?": { list: WEBHOOK },
  },
} as const;

export const SNAPSHOT_SHAPE: Shape = {
  about: "The file that `kubectl mesh config snapshot` writes and `--inject-config` reads",
  is: {
    fields: {
      apiVersion: { only: "kubectl-mesh/v1" },
      kind: { only: "InjectionSnapshot" },
      "controlPlane?": {
        about: "namespace and names of the ConfigMaps, for a revision that no webhook names",
        is: { fields: { "istioNamespace?": "text", "injectConfigMapName?": "text", "meshConfigMapName?": "text" } },
      },
      objects: { is: { list: OBJECT }, about: "Kubernetes objects, with the fields that injection reads" },
      "namespaces?": { is: TEXTS, about: "the namespaces of `-n`; absent: all namespaces of the cluster" },
      "kubeletVersions?": {
        about: "kubelet versions of the nodes; by node name if only some nodes support native sidecars; " +
          "absent if unknown",
        is: { either: [TEXTS, STRINGS] },
      },
      "unreadable?": {
        list: {
          fields: {
            resource: { is: "text", about: "such as `nodes`" },
            "namespace?": "text",
            "name?": { is: "text", about: "absent: all objects of the resource that are not in the snapshot" },
            needs: { is: "text", about: "the missing permission, such as `list on nodes`" },
          },
        },
      },
      "withheld?": { is: TEXTS, about: "names of the texts in which secrets are replaced with `[redacted]`" },
    },
  },
};
