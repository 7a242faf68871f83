/** The order of containers in an injected pod, which is their start order. */
import type { ValueMap } from "../../base/value.ts";
import { containerNamed, containersOf, CORE_DUMP, INIT, type Pod, PROXY, VALIDATION, withSpecKey } from "../pod/pod.ts";

/** Names that come first and last; the others stay between them. */
interface Order {
  readonly first: readonly string[];
  readonly last: readonly string[];
}

/**
 * Puts the proxy last, or first with `hold` (the application waits for it). Init containers are ordered so that capture
 * starts when the proxy runs.
 */
export function reorder(pod: Pod, hold: boolean): Pod {
  const native = containerNamed(containersOf(pod, "initContainers"), PROXY) !== undefined;
  const init = native
    ? { first: [INIT, VALIDATION, PROXY, CORE_DUMP], last: [] }
    : { first: [VALIDATION], last: [INIT, CORE_DUMP] };
  const main = hold ? { first: [PROXY], last: [] } : { first: [], last: [PROXY] };
  return ordered(ordered(pod, "initContainers", init), "containers", main);
}

function ordered(pod: Pod, list: "containers" | "initContainers", order: Order): Pod {
  const before = containersOf(pod, list);
  const after = before.toSorted((a, b) => rankOf(a, order) - rankOf(b, order));
  return after.every((container, index) => container === before[index]) ? pod : withSpecKey(pod, list, after);
}

/** Negative for names that come first, positive for those that come last. */
function rankOf({ name }: ValueMap, { first, last }: Order): number {
  const place = first.findIndex((each) => each === name);
  return place < 0 ? last.findIndex((each) => each === name) + 1 : place - first.length;
}
