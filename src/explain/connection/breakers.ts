/** Finds open circuit breakers in Envoy's gauges in `stats.txt`. */
import type { Snapshot } from "../snapshot/snapshot.ts";

const GAUGES: Readonly<Record<string, string>> = {
  cx_open: "connections",
  cx_pool_open: "connection pools",
  rq_open: "requests",
  rq_pending_open: "pending requests",
  rq_retry_open: "retries",
};

/** Returns the limits that a cluster has reached (default priority); empty if the snapshot has no `stats.txt`. */
export function openBreakers({ parts }: Pick<Snapshot, "parts">, cluster: string): string[] {
  const { text } = parts["stats.txt"];
  if (text === undefined) return [];
  return Object.entries(GAUGES).flatMap(([gauge, what]) => {
    const isOpen = [cluster, `${cluster};`].some((name) =>
      text.includes(`cluster.${name}.circuit_breakers.default.${gauge}: 1`)
    );
    return isOpen ? [what] : [];
  });
}
