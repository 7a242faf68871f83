/**
 * The release of a configuration with `templates`, which decides about defaults. The configuration does not name its
 * release; the fields that Istio's template reads limit it to a range. In this range the tag of the images decides,
 * else the last release.
 */
import { MeshError } from "../../base/errors.ts";
import { textAt, valueAt, type ValueMap } from "../../base/value.ts";

/** The latest release 1.`LATEST` that is known. */
export const LATEST = 31;
/** The first release with `templates`. */
const OLDEST = 9;

/** Texts in Istio's template, with the first release that has each. */
const MARKS: readonly (readonly [text: string, since: number])[] = [
  [".EstimatedConcurrency", 11],
  ["ISTIO_META_NODE_NAME", 17],
  ["ISTIO_CPU_LIMIT", 18],
  [".InboundTrafficPolicyMode", 22],
  [".NativeSidecars", 27],
  [".ProxyInitImage", 31],
];

/** A text that only the templates of 1.9 and 1.10 have. */
const FIRST = ".ProxyConfig.Concurrency.GetValue";

/** Fields whose rendered values depend on the defaults of the release. */
const BY_DEFAULTS = /\bprotoToJSON\b|\.(?:Get)?(?:Concurrency|Tracing|ParentShutdownDuration)\b/;

/** The inputs that show a release. */
export interface Evidence {
  /** The name that a person gives, such as `1.20` or `1.20.8`. */
  readonly named: string | undefined;
  readonly config: string;
  readonly values: ValueMap;
}

/**
 * The minor number of the release; the latest one if nothing shows it, and whether that matters to the template. Errors: the
 * name is no release.
 */
export function modernRelease(
  { named, config, values }: Evidence,
): { readonly minor: number; readonly isUnknown: boolean } {
  if (named !== undefined) return { minor: namedRelease(named), isUnknown: false };
  const tagged = taggedRelease(values);
  const since = MARKS.filter(([text]) => config.includes(text)).map(([, minor]) => minor);
  if (since.length === 0 && !config.includes(FIRST)) {
    return { minor: tagged ?? LATEST, isUnknown: tagged === undefined && BY_DEFAULTS.test(config) };
  }
  const oldest = Math.max(OLDEST, ...since);
  const newest = Math.max(oldest, (MARKS.find(([, minor]) => minor > oldest)?.[1] ?? LATEST + 1) - 1);
  return { minor: Math.min(Math.max(tagged ?? newest, oldest), newest), isUnknown: false };
}

function namedRelease(name: string): number {
  const minor = minorIn(name);
  if (minor !== undefined) return Math.min(minor, LATEST);
  throw new MeshError(`"${name}" is not a release of Istio`, { hint: 'name one from 1.9 on, such as "1.20"' });
}

function taggedRelease(values: ValueMap): number | undefined {
  const tag = valueAt(values, "global", "tag");
  return minorIn(typeof tag === "string" ? textAt({ tag }, "tag").replace(/^release-/, "") : "");
}

function minorIn(text: string): number | undefined {
  const minor = Number(/^1\.(\d{1,3})(?!\d)/.exec(text)?.[1]);
  return minor >= OLDEST ? minor : undefined;
}
