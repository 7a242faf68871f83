/** Finds the pods behind endpoints among snapshots of several pods. */
import type { Facts } from "../connection/facts.ts";
import type { Ends } from "../ends/both_ends.ts";
import { podOf } from "../pod.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** Finds pods among snapshots by address. Reuses snapshots that are already in typed form. */
export function savedEnds(snapshots: ReadonlyMap<Snapshot, Facts | undefined>): Ends {
  return {
    isOneCluster: false,
    podAt(address) {
      const found = [...snapshots].find(([each]) => podOf(each)?.addresses.includes(address));
      if (found === undefined) return Promise.resolve({ why: `none of the snapshots has the address ${address}` });
      const [snapshot, facts] = found;
      return Promise.resolve(facts === undefined ? { snapshot } : { snapshot, facts });
    },
    endpointsOf: () => Promise.resolve("a snapshot contains only the endpoints that Envoy knows"),
  };
}
