import type { KubeObject } from "../../core/kube/client/api.ts";
import type { Injector, NativeNodes } from "../../inject/mod.ts";
import type { ProxyConfigs } from "./proxy_configs.ts";

/** What the answer to a review depends on besides the review. */
export interface ReviewContext {
  /** Loaded with `byHand: false`. */
  readonly injector: Injector;
  /** The path of the request's URL, as it came. */
  readonly path: string;
  /** ProxyConfig resources of the cluster, where they are known. */
  readonly proxyConfigs?: ProxyConfigs | undefined;
  /** A namespace of the cluster, where it is known: OpenShift notes the users of its pods there. */
  readonly namespace?: ((name: string) => KubeObject | undefined) | undefined;
  /** Nodes of the cluster, where they are known. */
  readonly nodes?: NativeNodes | undefined;
}
