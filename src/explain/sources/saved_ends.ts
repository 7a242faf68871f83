/** The pods behind endpoints, among snapshots of several pods. */
import type { Facts } from "../connection/facts.ts";
import type { Ends } from "../ends/both_ends.ts";
import { podOf } from "../pod.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** Finds pods among snapshots by address. Reuses facts that are already read. */
export function savedEnds(snapshots: ReadonlyMap<Snapshot, Facts | undefined>): Ends {
  return {
    isOneCluster: false,
    podAt(address) {
      const found = [...snapshots].find(([each]) => podOf(each)?.addresses.includes(address));
      if (found === undefined) return Promise.resolve({ why: `no snapshot is of a pod with the address ${address}` });
      const [snapshot, facts] = found;
      return Promise.resolve(facts === undefined ? { snapshot } : { snapshot, facts });
    },
    endpointsOf: () => Promise.resolve("a snapshot has no endpoints of services beside Envoy's"),
  };
}
