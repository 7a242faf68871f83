/** Converts the mesh configuration for templates, once for each configuration. */
import { oncePer } from "../../base/values/mod.ts";
import type { GoStruct } from "../../golang/gotemplate/mod.ts";
import { meshConfigView, type ProxyConfig, proxyConfigView } from "../../istio/mod.ts";

const configs = new WeakMap<GoStruct, ProxyConfig>();

/** Returns `.ProxyConfig` for templates. */
export const viewOfProxyConfig = oncePer((config: ProxyConfig): GoStruct => {
  const view = proxyConfigView(config);
  configs.set(view, config);
  return view;
});

/** Returns `.MeshConfig` for templates. */
export const viewOfMeshConfig = oncePer(meshConfigView);

/** Returns the ProxyConfig behind a view; `undefined` if the view is not from `viewOfProxyConfig`. */
export function configOfView(view: GoStruct): ProxyConfig | undefined {
  return configs.get(view);
}
