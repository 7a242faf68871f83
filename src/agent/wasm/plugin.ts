/** The parts of a Wasm filter's configuration that the agent needs. */
import type { ModuleSource, PullPolicy } from "./options.ts";

export interface Plugin {
  /** The module to fetch; `undefined` if nothing must be fetched. */
  readonly remote: { readonly url: string; readonly sha256: string; readonly timeout: number | undefined } | undefined;
  readonly variables: ReadonlyMap<string, string>;
  /** Whether requests pass without the module; otherwise, they are rejected. */
  readonly isFailOpen: boolean;
}

const DEFAULT_TIMEOUT = 5000;
/** Value that istiod sends for a missing checksum. */
const NO_SHA256 = "nil";

/**
 * Whether a filter fails open. `policy` is the protobuf enum `FailurePolicy` (0: not given, 1: reload, 2: closed,
 * 3: open). If it is not given, the older field `fail_open` decides.
 */
export function isOpen(policy: number, failOpen: boolean): boolean {
  return policy === 0 ? failOpen : policy === 3;
}

/** Whether istiod wrote a variable for the agent and not for the module. One of these variables is a secret. */
export function isOwnVariable(name: string): boolean {
  return name.startsWith("ISTIO_META_");
}

export function sourceOf({ remote, variables }: Plugin, resource: string): ModuleSource | undefined {
  if (remote === undefined) return undefined;
  const { url, sha256, timeout = DEFAULT_TIMEOUT } = remote;
  return {
    url,
    sha256: sha256 === NO_SHA256 ? "" : sha256,
    resource,
    version: variables.get("ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION") ?? "",
    policy: policyOf(variables.get("ISTIO_META_WASM_IMAGE_PULL_POLICY")),
    pullSecret: variables.get("ISTIO_META_WASM_IMAGE_PULL_SECRET"),
    timeout,
  };
}

function policyOf(text = ""): PullPolicy {
  return text === "IfNotPresent" || text === "Always" ? text : "";
}
