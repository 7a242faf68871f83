/**
 * The built-in injector configuration: the texts of an own template, its values and a mesh configuration, complete for
 * a current Istio. They are files so that `--show-config` prints what a person can start their own from.
 */
import config from "./config.yaml" with { type: "text" };
import mesh from "./mesh.yaml" with { type: "text" };
import values from "./values.yaml" with { type: "text" };

export const BUILT_IN = { config, mesh, values } as const;
