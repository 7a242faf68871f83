/**
 * Which release of Istio an old configuration is of. Configurations do not say it, but the pods that they make depend on
 * it, so it is concluded from what the configuration uses. Each rule below narrows the releases that it can be of; of
 * those that are left the one counts that the tag of the images names, else the last one. What only later releases have outweighs what only earlier ones have: a
 * template that calls a function was made for a release that has it.
 */
import { valueAt, type ValueMap } from "../../core/value.ts";
import { sprint } from "../../core/gotemplate/mod.ts";

/** What is known of a configuration. */
export interface Evidence {
  readonly template: string;
  /** The template is written with `[[` and `]]`. */
  readonly brackets: boolean;
  readonly injectedAnnotations: Readonly<Record<string, string>>;
  /** `undefined` if no values were given. */
  readonly values: ValueMap | undefined;
  /** The text of the mesh configuration, `""` if none was given. */
  readonly mesh: string;
}

/** A release 1.`minor`, and what it was concluded from. */
export interface Release {
  readonly minor: number;
  /** To follow "used as one of Istio 1.x: ". */
  readonly because: string;
}

interface Rule {
  readonly because: string;
  readonly sees: (evidence: Evidence) => boolean;
  /** The first release that has it. */
  readonly oldest?: number;
  /** The last release that has it. */
  readonly newest?: number;
  /** Meshes keep fields that nothing reads any more: what the images say counts more. */
  readonly byMesh?: true;
}

const LAST = 8;

/** Mixer and SDS over a socket of the node went with 1.8; each of these fields told where they were. */
const OLD_MESH = /^\s*"?(mixerCheckServer|mixerReportServer|disablePolicyChecks|policyCheckFailOpen|sdsUdsPath)"?\s*:/m;

const RULES: readonly Rule[] = [
  {
    because:
      'values came into templates with 1.2, and nothing but "template" is given beside a mesh configuration of its time',
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
    because: "the mesh configuration has fields that 1.8 does not have",
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
    sees: ({ template }) => uses(template, ".TypeMeta") || /^\s*podRedirectAnnot:/m.test(template),
    oldest: 3,
  },
  {
    because: "it has injectedAnnotations",
    sees: ({ injectedAnnotations }) => Object.keys(injectedAnnotations).length > 0,
    oldest: 4,
  },
  {
    because: "its template calls functions that came with 1.5",
    sees: ({ template }) => calls(template, "protoToJSON|structToJSON|render"),
    oldest: 5,
  },
  {
    because: "its template reads .ProxyConfig.Concurrency as a wrapped number",
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
    sees: ({ template }) => calls(template, "appendMultusNetwork"),
    oldest: 8,
  },
];

/** The release of a configuration. */
export function releaseOf(evidence: Evidence): Release {
  const tagged = taggedRelease(evidence);
  if (evidence.brackets) return { minor: Math.min(tagged ?? 1, 1), because: 'its template is written with "[["' };
  const seen = RULES.filter((rule) => rule.sees(evidence) && !(rule.byMesh === true && tagged !== undefined));
  const oldest = Math.max(0, ...seen.map((rule) => rule.oldest ?? 0));
  const newest = Math.min(LAST, ...seen.map((rule) => rule.newest ?? LAST));
  const minor = Math.max(oldest, Math.min(tagged ?? LAST, newest));
  if (minor === tagged) return { minor, because: "the tag of its images says so" };
  const decisive = seen.find((rule) => rule.newest === minor) ?? seen.find((rule) => rule.oldest === minor);
  return { minor, because: decisive?.because ?? "nothing in it is of an earlier release only" };
}

function uses(template: string, field: string): boolean {
  return template.includes(field);
}

function calls(template: string, names: string): boolean {
  return new RegExp(`\\{\\{[^}]*\\b(?:${names})\\b`).test(template);
}

/** The release that the tag of the proxy's image names: `1.4.3`, `release-1.1-latest-daily`; not `1.10`. */
function taggedRelease({ template, values }: Evidence): number | undefined {
  const tag = values === undefined ? undefined : valueAt(values, "global", "tag");
  const named = tag === undefined ? IMAGE_TAG.exec(template)?.[1] ?? "" : sprint(tag);
  const minor = /^(?:release-)?1\.([0-8])(?!\d)/.exec(named)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

const IMAGE_TAG = /\/(?:proxyv2|proxy_init|proxy):([^\s"']+)/;
