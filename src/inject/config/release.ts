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
  /** The minor version of the release that the user names. */
  readonly named: number | undefined;
  readonly config: string;
  readonly values: ValueMap;
}

/**
 * Returns the minor version of the release. Without evidence, assumes the latest; `isUnknown` is then true if the
 * template depends on the release.
 */
export function modernRelease(
  { named, config, values }: Evidence,
): { readonly minor: number; readonly isUnknown: boolean } {
  if (named !== undefined) return { minor: named, isUnknown: false };
  const tagged = taggedRelease(values);
  const since = MARKS.filter(([text]) => config.includes(text)).map(([, minor]) => minor);
  if (since.length === 0 && !config.includes(FIRST)) {
    return { minor: tagged ?? LATEST, isUnknown: tagged === undefined && BY_DEFAULTS.test(config) };
  }
  const oldest = Math.max(OLDEST, ...since);
  const newest = Math.max(oldest, (MARKS.find(([, minor]) => minor > oldest)?.[1] ?? LATEST + 1) - 1);
  return { minor: Math.min(Math.max(tagged ?? newest, oldest), newest), isUnknown: false };
}

/**
 * Returns the minor version of a release such as `1.20` or `1.20.8`; of an unknown newer release, the latest known one.
 * Throws a UsageError for any other text.
 */
export function namedRelease(name: string): number {
  const minor = minorIn(name);
  if (minor !== undefined) return Math.min(minor, LATEST);
  throw new UsageError(`"${name}" is not a release of Istio`, { hint: 'give one such as "1.20"' });
}

/** Throws a UsageError if the named release has configurations of another form. */
export function refuseOtherForm(form: "legacy" | "modern", named: number | undefined): void {
  if (named === undefined || (form === "legacy") === (named < OLDEST)) return;
  const releases = form === "legacy" ? "1.0 to 1.8" : `1.${OLDEST} and later`;
  throw new UsageError(`The configuration has the form of Istio ${releases}, not of 1.${named}`, {
    hint: "leave out --istio-version, or give the release of the configuration",
  });
}

function taggedRelease(values: ValueMap): number | undefined {
  const tag = valueAt(values, "global", "tag");
  const minor = minorIn(typeof tag === "string" ? textAt({ tag }, "tag").replace(/^release-/, "") : "");
  return minor !== undefined && minor >= OLDEST ? minor : undefined;
}

function minorIn(text: string): number | undefined {
  const minor = /^1\.(\d{1,3})(?!\d)/.exec(text)?.[1];
  return minor === undefined ? undefined : Number(minor);
}
