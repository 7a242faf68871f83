/**
 * Infers the release of a configuration of Istio 1.0 to 1.8. The configuration does not name its release, but the result
 * depends on it. Each matching rule narrows the range of releases. If the rules conflict, the latest `oldest` wins.
 * Within the range, the image tag decides. Without a tag, the range's last release is assumed.
 */
import { valueAt, type ValueMap } from "../../base/value.ts";
import { sprint } from "../../golang/gotemplate/mod.ts";

export interface Evidence {
  /** The minor version of the release that the user names. */
  readonly named?: number | undefined;
  readonly template: string;
  /** Whether the template's delimiters are `[[` and `]]`. */
  readonly brackets: boolean;
  readonly injectedAnnotations: Readonly<Record<string, string>>;
  /** The values; `undefined` if the configuration has no values. */
  readonly values: ValueMap | undefined;
  /** The text of the mesh configuration, or `""`. */
  readonly mesh: string;
}

export interface Release {
  readonly minor: number;
  /** The reason. Printed after "treated as Istio 1.x: ". */
  readonly because: string;
}

interface Rule {
  readonly because: string;
  readonly sees: (evidence: Evidence) => boolean;
  /** Minor version of the first release to which the rule applies. */
  readonly oldest?: number;
  /** Minor version of the last release to which the rule applies. */
  readonly newest?: number;
  /** The rule reads the mesh configuration, which may contain obsolete fields. The image tag overrides such a rule. */
  readonly byMesh?: true;
}

const LAST = 8;

/** Fields of Mixer and of SDS over a node socket. Istio 1.8 removed both features. */
const OLD_MESH =
  /^[ \t]*"?(?:mixerCheckServer|mixerReportServer|disablePolicyChecks|policyCheckFailOpen|sdsUdsPath)"?[ \t]*:/m;

const RULES: readonly Rule[] = [
  {
    because:
      "its template does not use .Values, which 1.2 added, and the mesh configuration has fields that 1.8 removed",
    sees: ({ template, values, mesh }) => values === undefined && OLD_MESH.test(mesh) && !uses(template, ".Values"),
    newest: 1,
    byMesh: true,
  },
  {
    because: "its template compares .ProxyConfig.Concurrency as a number",
    sees: ({ template }) => /\.ProxyConfig\.Concurrency(?!\.|\w)/.test(template),
    newest: 5,
  },
  {
    because: "the mesh configuration has fields that 1.8 removed",
    sees: ({ mesh }) => OLD_MESH.test(mesh),
    newest: 7,
    byMesh: true,
  },
  {
    because: "its template uses .Values",
    sees: ({ template }) => uses(template, ".Values"),
    oldest: 2,
  },
  {
    because: "its template uses .TypeMeta or has podRedirectAnnot",
    sees: ({ template }) => uses(template, ".TypeMeta") || /^[ \t]*podRedirectAnnot:/m.test(template),
    oldest: 3,
  },
  {
    because: "it has injectedAnnotations",
    sees: ({ injectedAnnotations }) => Object.keys(injectedAnnotations).length > 0,
    oldest: 4,
  },
  {
    because: "its template calls functions of 1.5",
    sees: ({ template }) => /\{\{[^{}]*\b(?:protoToJSON|structToJSON|render)\b/.test(template),
    oldest: 5,
  },
  {
    because: "its template reads .ProxyConfig.Concurrency with GetValue",
    sees: ({ template }) => uses(template, ".ProxyConfig.Concurrency.GetValue"),
    oldest: 6,
  },
  {
    because: "its template uses holdApplicationUntilProxyStarts",
    sees: ({ template }) => /holdApplicationUntilProxyStarts/i.test(template),
    oldest: 7,
  },
  {
    because: "its template calls appendMultusNetwork",
    sees: ({ template }) => /\{\{[^{}]*\bappendMultusNetwork\b/.test(template),
    oldest: 8,
  },
];

/** Infers the release from the evidence. */
export function releaseOf(evidence: Evidence): Release {
  if (evidence.named !== undefined) return { minor: evidence.named, because: "--istio-version names it" };
  const tagged = taggedRelease(evidence);
  if (evidence.brackets) return { minor: Math.min(tagged ?? 1, 1), because: 'its template uses "[["' };
  const seen = RULES.filter((rule) => rule.sees(evidence) && !(rule.byMesh === true && tagged !== undefined));
  const oldest = Math.max(0, ...seen.map((rule) => rule.oldest ?? 0));
  const newest = Math.min(LAST, ...seen.map((rule) => rule.newest ?? LAST));
  const minor = Math.max(oldest, Math.min(tagged ?? LAST, newest));
  if (minor === tagged) return { minor, because: "its images have the tag of this release" };
  const decisive = seen.find((rule) => rule.newest === minor) ?? seen.find((rule) => rule.oldest === minor);
  return { minor, because: decisive?.because ?? "nothing in it requires an earlier release" };
}

function uses(template: string, field: string): boolean {
  return template.includes(field);
}

/** Parses the release from the tag of the proxy's image, such as `1.4.3` or `release-1.1-latest-daily`. */
function taggedRelease({ template, values }: Evidence): number | undefined {
  const tag = values === undefined ? undefined : valueAt(values, "global", "tag");
  const named = tag === undefined ? IMAGE_TAG.exec(template)?.[1] ?? "" : sprint(tag);
  const minor = /^(?:release-)?1\.([0-8])(?!\d)/.exec(named)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

const IMAGE_TAG = /\/(?:proxyv2|proxy_init|proxy):([^\s"']+)/;
