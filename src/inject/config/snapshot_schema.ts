/** The file that `config snapshot` writes. Import it for types only: printing needs no zod. */
import { z } from "zod";

const STRINGS = z.record(z.string(), z.string());

const SELECTOR = z.object({
  matchLabels: STRINGS.optional(),
  matchExpressions: z.array(
    z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }),
  ).optional(),
});

const WEBHOOK = z.object({
  name: z.string(),
  failurePolicy: z.string().optional(),
  reinvocationPolicy: z.string().optional(),
  timeoutSeconds: z.number().optional(),
  namespaceSelector: SELECTOR.optional(),
  objectSelector: SELECTOR.optional(),
  matchConditions: z.array(z.object({ name: z.string(), expression: z.string().describe("in CEL") })).optional(),
  clientConfig: z.object({
    url: z.string().optional(),
    service: z.object({
      namespace: z.string(),
      name: z.string(),
      path: z.string().optional(),
      port: z.number().optional(),
    }).optional(),
  }).optional(),
  rules: z.array(z.object({
    operations: z.array(z.string()).optional(),
    resources: z.array(z.string()).optional(),
    apiGroups: z.array(z.string()).optional(),
  })).optional(),
});

const OBJECT = z.object({
  apiVersion: z.string(),
  kind: z.string().describe("ConfigMap, MutatingWebhookConfiguration or Namespace; others are not read"),
  metadata: z.object({ name: z.string(), namespace: z.string().optional(), labels: STRINGS.optional() }),
  data: STRINGS.optional().describe("of a ConfigMap: `config`, `values`, `mesh`"),
  webhooks: z.array(WEBHOOK).optional(),
});

/** A snapshot. */
export const SNAPSHOT = z.object({
  apiVersion: z.literal("kubectl-mesh/v1"),
  kind: z.literal("InjectionSnapshot"),
  controlPlane: z.object({
    istioNamespace: z.string().optional(),
    injectConfigMapName: z.string().optional(),
    meshConfigMapName: z.string().optional(),
  }).optional().describe("where the ConfigMaps of a revision are that no webhook names"),
  objects: z.array(OBJECT).describe("Kubernetes objects, with the fields that injection reads"),
  kubeletVersions: z.union([z.array(z.string()), STRINGS]).optional().describe(
    "versions of the nodes' kubelets; by node where some support native sidecars and others do not; absent if unknown",
  ),
  unreadable: z.array(z.object({
    resource: z.string().describe("such as `nodes`"),
    namespace: z.string().optional(),
    name: z.string().optional().describe("absent: all that are not in the snapshot"),
    needs: z.string().describe("the missing right, such as `list on nodes`"),
  })).optional(),
  withheld: z.array(z.string()).optional().describe("texts in which secrets are replaced by `[redacted]`"),
}).describe("The file that `kubectl mesh config snapshot` writes and `--inject-config` reads");
