/** Builds Envoy's runtime flags. Source: Istio's bootstrap.extractRuntimeFlags. */
import { newMap, type ValueMap } from "../../../base/value.ts";
import type { AgentSettings } from "../../settings/read.ts";

const DEFAULTS = {
  "re2.max_program_size.error_level": "32768",
  "envoy.deprecated_features:envoy.config.listener.v3.Listener.hidden_envoy_deprecated_use_original_dst": true,
  "envoy.reloadable_features.http_reject_path_with_fragment": false,
  "envoy.reloadable_features.fixed_heap_use_allocated": true,
  "envoy.reloadable_features.coalesce_lb_rebuilds_on_batch_update": false,
};
const TLS_12_ONLY = { "envoy.reloadable_features.google_grpc_disable_tls_13": true };
const KEEP_FRAGMENT = { "envoy.reloadable_features.http_strip_fragment_from_path_unsafe_if_disabled": "false" };

/** Returns the runtime flags. An empty value in `runtimeValues` removes a flag; `true` and `false` become booleans. */
export function runtimeFlags({ bootstrap, proxy }: AgentSettings): ValueMap {
  const flags: ValueMap = Object.assign(
    newMap(),
    DEFAULTS,
    bootstrap.isTls12Only ? TLS_12_ONLY : {},
    bootstrap.stripFragment ? {} : KEEP_FRAGMENT,
  );
  for (const [key, value] of Object.entries(proxy.runtimeValues)) {
    if (value === "") delete flags[key];
    else flags[key] = value === "true" || (value === "false" ? false : value);
  }
  return flags;
}
