/**
 * Detects the Istio release of a configuration with `templates`, because defaults depend on the release. The configuration
 * does not name its release. The fields that its template reads limit the release to a range. Within the range, the image
 * tag decides. Without a tag, the range's last release is assumed.
 */
import { UsageError } from "../../base/errors.ts";
import { textAt, valueAt, type ValueMap } from "../../base/value.ts";

export const LATEST = 31;
const OLDEST = 9;

/** Strings in Istio's template, each with the minor version that added it. */
const MARKS: readonly (readonly [text: string, since: number])[] = [
  [".EstimatedConcurrency", 11],
  ["ISTIO_META_NODE_NAME", 17],
  ["ISTIO_CPU_LIMIT", 18],
  [".InboundTrafficPolicyMode", 22],
  [".NativeSidecars", 27],
  [".ProxyInitImage", 31],
];

/** Occurs only in the templates of Istio 1.9 and 1.10. */
const FIRST = ".ProxyConfig.Concurrency.GetValue";

/** Fields whose rendered values depend on the defaults of the release. */
const BY_DEFAULTS = /\bprotoToJSON\b|\.(?:Get)?(?:Concurrency|Tracing|ParentShutdownDuration)\b/;

export interface Evidence {
  /** The release that the user names, such as `1.20` or `1.20.8`. */
  readonly named: string | undefined;
  readonly config: string;
  readonly values: ValueMap;
}

/**
 * Returns the minor version of the release. Without evidence, assumes the latest; `isUnknown` is then true if the
 * template depends on the release. Throws a UsageError if the named release is invalid.
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
  throw new UsageError(`"${name}" is not a release of Istio`, { hint: 'give a release from 1.9 on, such as "1.20"' });
}

function taggedRelease(values: ValueMap): number | undefined {
  const tag = valueAt(values, "global", "tag");
  return minorIn(typeof tag === "string" ? textAt({ tag }, "tag").replace(/^release-/, "") : "");
}

function minorIn(text: string): number | undefined {
  const minor = Number(/^1\.(\d{1,3})(?!\d)/.exec(text)?.[1]);
  return minor >= OLDEST ? minor : undefined;
}
