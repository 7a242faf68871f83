/**
 * The built-in injector configuration for the current Istio release: template, values and mesh configuration. The texts
 * are files, so that `--show-config` can print them as a start for a custom configuration.
 */
import config from "./config.yaml" with { type: "text" };
import mesh from "./mesh.yaml" with { type: "text" };
import values from "./values.yaml" with { type: "text" };

export const BUILT_IN = { config, mesh, values } as const;
