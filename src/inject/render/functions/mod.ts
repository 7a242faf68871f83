/**
 * The functions of injection templates: sprig's functions and Istio's own. Istio's override sprig's functions of the same
 * name (`indent` and `contains` differ).
 */
import { sprigFunctions } from "../../../golang/gotemplate/sprig/mod.ts";
import { type FuncMap, varying } from "../../../golang/gotemplate/mod.ts";
import { dataFunctions } from "./data.ts";
import { metadataFunctions } from "./metadata.ts";
import { otelFunctions } from "./otel.ts";
import { portFunctions } from "./ports.ts";
import { appendWholeNetwork, textFunctions } from "./text.ts";

/** Environment and clock, which the functions `env` and `now` read. */
export interface FunctionWorld {
  readonly env: (name: string) => string | undefined;
  readonly now: () => Date;
}

/** Minor version of the first release whose `appendMultusNetwork` splits `namespace/name`. */
const SPLITS_NETWORKS = 23;

/** Returns all functions of injection templates by name, as in the release with this minor version. Default: the latest. */
export function templateFunctions(world: FunctionWorld, minor = Infinity): FuncMap {
  return {
    ...sprigFunctions(world),
    ...dataFunctions,
    ...metadataFunctions,
    ...otelFunctions,
    ...portFunctions,
    ...textFunctions,
    ...minor < SPLITS_NETWORKS ? { appendMultusNetwork: appendWholeNetwork } : {},
    env: varying(["string", "string"], (name, otherwise) => world.env(String(name)) || String(otherwise)),
  };
}
