/**
 * The functions of injection templates: sprig's, overridden by Istio's own (`indent` and `contains` differ). In: environment
 * and clock, for `env` and dates.
 */
import { sprigFunctions } from "../../../golang/gotemplate/sprig/mod.ts";
import { type FuncMap, varying } from "../../../golang/gotemplate/mod.ts";
import { dataFunctions } from "./data.ts";
import { metadataFunctions } from "./metadata.ts";
import { otelFunctions } from "./otel.ts";
import { portFunctions } from "./ports.ts";
import { appendWholeNetwork, textFunctions } from "./text.ts";

/** What functions read from the process. */
export interface FunctionWorld {
  readonly env: (name: string) => string | undefined;
  readonly now: () => Date;
}

/** The first release whose `appendMultusNetwork` splits `namespace/name`. */
const SPLITS_NETWORKS = 23;

/** All functions of injection templates by name, as in the release 1.`minor` (default: the latest). */
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
