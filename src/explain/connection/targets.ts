/** The clusters of a connection: their stations, shares and endpoints. */
import { clusterSteps } from "./cluster_step.ts";
import type { Asked } from "./endpoints.ts";
import { percent } from "../rules/route_search.ts";
import type { Inside } from "./listener_step.ts";
import type { Target } from "./route_step.ts";
import type { ConnectionPath, End } from "./connection_path.ts";

/** Adds the stations of all targets. Refuses the connection if all targets refuse. Returns whether any target refuses. */
export function addTargets(
  path: ConnectionPath,
  { facts, config }: Pick<Inside, "facts" | "config">,
  targets: readonly Target[],
  asked: Omit<Asked, "name" | "origin">,
): boolean {
  const ends: { readonly share: number; readonly end: End }[] = [];
  const shares = sharesByName(targets);
  for (const [name, share] of shares) {
    const origin = targets.find(({ cluster }) => cluster === name)?.origin ?? "";
    const { steps, isKnown, endpoints } = clusterSteps(facts, config, { ...asked, name, origin });
    if (isKnown) path.cluster(name, Number((share * 100).toFixed(4)));
    path.endpoints(endpoints);
    for (const step of steps) shares.size === 1 ? path.add(step) : path.note(step);
    ends.push(...steps.flatMap(({ end }) => end === undefined ? [] : [{ share, end }]).slice(0, 1));
  }
  const [first] = ends;
  if (first === undefined || shares.size === 1) return first !== undefined;
  if (ends.length === shares.size) {
    path.end(first.end);
    return true;
  }
  const share = ends.reduce((sum, each) => sum + each.share, 0);
  path.concern({
    reason: `${percent(share)} of requests are refused: ${first.end.reason}`,
    fix: first.end.fix,
    cause: first.end.cause,
  });
  return true;
}

/** Returns the share of each cluster. Several routes can name the same cluster. */
function sharesByName(targets: readonly Target[]): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  for (const { cluster, share } of targets) shares.set(cluster, (shares.get(cluster) ?? 0) + share);
  return shares;
}
