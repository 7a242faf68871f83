/**
 * The Istio release of a run: a JSON file of `test/versions`, which `MESH_ISTIO` names. Without `MESH_ISTIO` the
 * control plane comes from the module in `test/e2e/servers/istio`, and the configuration is the built-in one.
 */

/** Programs and configuration of a release. */
export interface Release {
  readonly release: string;
  /** Paths of Istio's programs, and of the agent's template of Envoy's bootstrap. */
  readonly discovery: string;
  readonly agent: string;
  readonly bootstrap: string;
  /** The texts of the injector's ConfigMap. */
  readonly config: string;
  readonly values: string;
  /** MeshConfig. */
  readonly mesh: Readonly<Record<string, unknown>>;
}

const file = Deno.env.get("MESH_ISTIO");

/** `undefined`: the release of the checkout. */
export const RELEASE: Release | undefined = file === undefined ? undefined : JSON.parse(Deno.readTextFileSync(file));
