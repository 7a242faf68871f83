/**
* The built-in injector configuration: this program's template, its values and a mesh configuration, complete for
* a current Istio. The texts are files, so `--show-config` can print them as a start for a custom configuration.
 */
import config from "./config.yaml" with { type: "text" };
import mesh from "./mesh.yaml" with { type: "text" };
import values from "./values.yaml" with { type: "text" };

export const BUILT_IN = { config, mesh, values } as const;
