/** Schema of `version -o json`. Import only types from this file, so that printing does not load zod. */
import { z } from "zod";

const COMPONENT = z.strictObject({
  namespace: z.string(),
  revision: z.string().describe('the label istio.io/rev; "default" without one'),
  version: z.string().nullable().describe("the tag of the image; null if the image has none"),
  image: z.string(),
  pods: z.int().describe("unfinished pods of this namespace, revision and image"),
}).describe("Pods that run one version");

const CLUSTER = z.strictObject({
  server: z.string().nullable().describe("URL of the API server; null if the kubeconfig names none"),
  kubernetes: z.string().nullable().describe("version of the API server; null if unknown"),
  istiod: z.array(COMPONENT).nullable().describe("the control plane; null if unknown"),
  webhook: z.array(COMPONENT).nullable().describe("webhooks of this program; null if unknown"),
  problems: z.array(z.string()).describe("reasons for the unknown versions"),
}).describe("Versions in the cluster of the kubeconfig");

export const VERSION_INFO = z.strictObject({
  version: z.string(),
  commit: z.string().nullable().describe("commit of the sources; null if the program runs from its sources"),
  modified: z.boolean().nullable().describe("whether the sources differed from the commit; null without a commit"),
  date: z.string().nullable().describe("time of the commit; null if unknown"),
  deno: z.string().describe("version of Deno that the program contains or runs on"),
  platform: z.string().describe("such as linux-amd64"),
  cluster: CLUSTER.optional().describe("absent if there is no kubeconfig, or if --client is given"),
}).describe("The output of `kubectl mesh version -o json`");

export type Component = Readonly<z.infer<typeof COMPONENT>>;
export type ClusterVersions = Readonly<z.infer<typeof CLUSTER>>;
export type VersionInfo = Readonly<z.infer<typeof VERSION_INFO>>;
