/**
 * The text functions of sprig v3.3 for Go templates. `sprigFunctions(world)` returns a `FuncMap` with all of
 * `TxtFuncMap` except `getHostByName`, which needs the network. The environment and the clock are passed in.
 */
import type { FuncMap } from "../../go_value.ts";
import { cryptoFunctions } from "./crypto/crypto.ts";
import { dateFunctions } from "./date/date.ts";
import { defaultFunctions } from "./values/defaults.ts";
import { dictFunctions } from "./values/dicts.ts";
import { encodingFunctions } from "./text/encoding.ts";
import { environmentFunctions } from "./environment.ts";
import { listFunctions } from "./values/lists.ts";
import { mathFunctions } from "./values/math.ts";
import { pathFunctions } from "./text/paths.ts";
import { randomFunctions } from "./random.ts";
import { reflectFunctions } from "./values/reflect.ts";
import { regexpFunctions } from "./text/regexp.ts";
import { semverFunctions } from "./text/semver.ts";
import { stringFunctions } from "./text/strings.ts";
import { urlFunctions } from "./text/url.ts";

export { loadLibraries } from "./libraries.ts";

/** The environment variables (default: none) and the clock that functions read. */
export interface SprigWorld {
  readonly env?: (name: string) => string | undefined;
  readonly now: () => Date;
}

/** Returns all functions by name. Creating the map is cheap. Call `loadLibraries` before a render. */
export function sprigFunctions(world: SprigWorld): FuncMap {
  return {
    ...dateFunctions(world.now),
    ...stringFunctions(),
    ...mathFunctions(),
    ...listFunctions(),
    ...dictFunctions(),
    ...defaultFunctions(),
    ...reflectFunctions(),
    ...regexpFunctions(),
    ...semverFunctions(),
    ...urlFunctions(),
    ...pathFunctions(),
    ...encodingFunctions(),
    ...environmentFunctions(world.env ?? (() => undefined)),
    ...randomFunctions(),
    ...cryptoFunctions(world.now),
  };
}
