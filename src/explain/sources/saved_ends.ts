/** The pods behind endpoints, among snapshots of several pods. */
import type { Ends } from "../ends/both_ends.ts";
import { podOf } from "../pod.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** Finds pods among snapshots by their addresses. */
export function savedEnds(snapshots: readonly Snapshot[]): Ends {
  return {
    podAt(address) {
      const snapshot = snapshots.find((each) => podOf(each)?.addresses.includes(address));
      return Promise.resolve(
        snapshot === undefined ? { why: `no snapshot is of a pod with the address ${address}` } : { snapshot },
      );
    },
    endpointsOf: () => Promise.resolve("a snapshot has no endpoints of services beside those of Envoy"),
  };
}
