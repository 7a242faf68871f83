/** The JSON of `check upgrade -o json`. Import it for types only: printing needs no zod. */
import { z } from "zod";

const CHANGE = z.strictObject({
  container: z.string().describe("an injected container; empty for the pod itself"),
  field: z.string().describe(
    "such as `image` or `env[PROXY_CONFIG]`; `container` for a whole one, `sidecar` where the pod gets none",
  ),
  from: z.string().nullable().describe("of the running pods; null if it is absent"),
  to: z.string().nullable().describe("of the next pods; null if it is absent"),
});

const WORKLOAD = z.strictObject({
  workload: z.string().describe("such as `deployment/web`"),
  namespace: z.string(),
  pods: z.number().int().describe("running pods with a sidecar"),
  changes: z.array(CHANGE).readonly(),
  unknown: z.string().nullable().describe("why it is not known whether its pods change"),
});

/** What a new configuration changes in the injected pods that run. */
export const UPGRADE = z.strictObject({
  to: z.string().describe("the file or the revision"),
  differs: z.boolean().nullable().describe("null if nothing is known to differ, and something is not known"),
  workloads: z.array(WORKLOAD).readonly().describe("all that have running pods with a sidecar"),
}).describe("The output of `kubectl mesh check upgrade -o json`");

/** One difference. */
export type UpgradeChange = Readonly<z.infer<typeof CHANGE>>;

export type UpgradeWorkload = Readonly<z.infer<typeof WORKLOAD>>;

export type Upgrade = Readonly<z.infer<typeof UPGRADE>>;
