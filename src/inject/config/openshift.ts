/** Proxy user and group on OpenShift, where each namespace has its own ranges of UIDs and GIDs for pods. */
import { mapAt, textAt, type Value, type ValueMap } from "../../base/value.ts";

const UID_RANGE = "openshift.io/sa.scc.uid-range";
const GROUPS = "openshift.io/sa.scc.supplemental-groups";

export interface ProxyIds {
  readonly proxyUid: number;
  readonly proxyGid: number;
}

/** Whether the cluster is OpenShift, from the variable PLATFORM (set by Istio's charts) or the value `global.platform`. */
export function isOpenShift(
  { env, values }: { readonly env: (name: string) => string | undefined; readonly values: ValueMap },
): boolean {
  return (env("PLATFORM") ?? textAt(mapAt(values, "global"), "platform")) === "openshift";
}

/**
 * The proxy's user and group: the last UID and GID of the namespace's ranges, because applications get the first ones.
 * Returns `otherwise` if the annotations set no ranges. Source: Istio's GetProxyIDs.
 */
export function proxyIds(annotations: Readonly<Record<string, Value>>, otherwise: ProxyIds): ProxyIds {
  const uids = lastOf(annotations[UID_RANGE]);
  const groups = annotations[GROUPS];
  const gids = groups === undefined ? uids : lastOf(groups);
  return { proxyUid: uids ?? otherwise.proxyUid, proxyGid: gids ?? otherwise.proxyGid };
}

const MAX_ID = 2 ** 32 - 1;

/** The last ID of the first range. Ranges are `start/size` or `start-end`, separated by commas. */
function lastOf(blocks: Value | undefined): number | undefined {
  const match = typeof blocks === "string" ? /^(\d{1,10})([/-])(\d{1,10})(?:,|$)/.exec(blocks) : null;
  if (match === null) return undefined;
  const [, start, separator, second] = match;
  const last = separator === "/" ? Number(start) + Number(second) - 1 : Number(second);
  return last >= Number(start) && last <= MAX_ID ? last : undefined;
}
