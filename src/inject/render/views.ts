/** Converts the mesh configuration for templates. Caches one view for each configuration. */
import type { GoStruct } from "../../golang/gotemplate/mod.ts";
import { type MeshConfig, meshConfigView, type ProxyConfig, proxyConfigView } from "../../istio/mod.ts";

const configs = new WeakMap<GoStruct, ProxyConfig>();
const proxyViews = new WeakMap<ProxyConfig, GoStruct>();
const meshViews = new WeakMap<MeshConfig, GoStruct>();

/** Returns `.ProxyConfig` for templates. */
export function viewOfProxyConfig(config: ProxyConfig): GoStruct {
  const known = proxyViews.get(config);
  if (known !== undefined) return known;
  const view = proxyConfigView(config);
  proxyViews.set(config, view);
  configs.set(view, config);
  return view;
}

/** Returns `.MeshConfig` for templates. */
export function viewOfMeshConfig(mesh: MeshConfig): GoStruct {
  const known = meshViews.get(mesh);
  if (known !== undefined) return known;
  const view = meshConfigView(mesh);
  meshViews.set(mesh, view);
  return view;
}

/** Returns the ProxyConfig behind a view; `undefined` if the view is not from `viewOfProxyConfig`. */
export function configOfView(view: GoStruct): ProxyConfig | undefined {
  return configs.get(view);
}
