/** Loads a configuration of Istio 1.0 to 1.8, once for any number of pods. */
import { MeshError, messageOf } from "../../base/errors.ts";
import { parse, type Template } from "../../golang/gotemplate/mod.ts";
import type { Era } from "../../istio/mod.ts";
import { nodeCrypto } from "../../base/node_crypto.ts";
import type { LegacyConfig } from "../config/config.ts";
import type { FunctionWorld } from "../render/functions/mod.ts";
import { RenderedReader } from "../render/rendered.ts";
import { legacyFunctions, type RenderScope } from "./functions.ts";
import { type Evidence, type Release, releaseOf } from "./release.ts";

/** A loaded configuration of Istio 1.0 to 1.8. */
export interface Legacy {
  readonly release: Release;
  /** The range of releases whose rules for mesh configuration and annotations apply. */
  readonly era: Era;
  readonly template: Template;
  /** SHA-256 of the template's text. The status annotation contains it as the version. */
  readonly version: string;
  readonly scope: RenderScope;
  readonly reader: RenderedReader;
}

export type LegacySources = Pick<Evidence, "named" | "values" | "mesh"> & {
  readonly file: string;
  readonly world: FunctionWorld;
};

/** Parses the template. Throws a MeshError with file and field for an invalid template. */
export function loadLegacy(config: LegacyConfig, sources: LegacySources): Legacy {
  const brackets = config.delimiters[0] === "[[";
  const release = releaseOf({
    ...sources,
    brackets,
    template: config.template,
    injectedAnnotations: config.injectedAnnotations,
  });
  const scope: RenderScope = { data: null };
  return {
    release,
    era: release.minor <= LAST_WITH_PLAIN_CONCURRENCY ? "1.1" : "1.8",
    template: parseTemplate(config, scope, sources),
    version: nodeCrypto().createHash("sha256").update(config.template).digest("hex"),
    scope,
    reader: new RenderedReader(),
  };
}

/** Up to Istio 1.5, `concurrency` is a plain number, and most mesh defaults are the same as in 1.1. */
const LAST_WITH_PLAIN_CONCURRENCY = 5;

function parseTemplate(
  { template, delimiters }: LegacyConfig,
  scope: RenderScope,
  { file, world }: LegacySources,
): Template {
  const [leftDelim, rightDelim] = delimiters;
  const funcs = legacyFunctions(world, scope);
  try {
    return parse("inject", template, { funcs, leftDelim, rightDelim });
  } catch (error) {
    throw new MeshError(`The template cannot be parsed: ${messageOf(error)}`, {
      place: { file, field: "template" },
      cause: error,
    });
  }
}
