/** The JSON of `check upgrade -o json`. Import only types from this file: printing does not need zod. */
import { z } from "zod";

const CHANGE = z.strictObject({
  container: z.string().describe("name of an injected container; empty for the pod itself"),
  field: z.string().describe(
    "such as `image` or `env[PROXY_CONFIG]`; `container` for a whole container, `sidecar` if the new pod gets no sidecar",
  ),
  from: z.string().nullable().describe("value in the running pods; null if absent"),
  to: z.string().nullable().describe("value in new pods; null if absent"),
});

const WORKLOAD = z.strictObject({
  workload: z.string().describe("such as `deployment/web`"),
  namespace: z.string(),
  pods: z.number().int().describe("number of running pods with a sidecar"),
  changes: z.array(CHANGE).readonly(),
  unknown: z.string().nullable().describe("the reason if it is unknown whether its pods change"),
});

/** The changes that a new configuration makes in running injected pods. */
export const UPGRADE = z.strictObject({
  to: z.string().describe("the file or the revision to upgrade to"),
  differs: z.boolean().nullable().describe(
    "whether any sidecar changes; null if no change is known but some workloads are unknown",
  ),
  workloads: z.array(WORKLOAD).readonly().describe("all workloads that have running pods with a sidecar"),
}).describe("The output of `kubectl mesh check upgrade -o json`");

export type UpgradeChange = Readonly<z.infer<typeof CHANGE>>;

export type UpgradeWorkload = Readonly<z.infer<typeof WORKLOAD>>;

export type Upgrade = Readonly<z.infer<typeof UPGRADE>>;
