/** Orders the containers of an injected pod, because containers start in this order. */
import type { ValueMap } from "../../base/value.ts";
import { withSpecKey } from "../pod/change.ts";
import {
  type ContainerList,
  containerNamed,
  containersOf,
  CORE_DUMP,
  INIT,
  type Pod,
  PROXY,
  VALIDATION,
} from "../pod/pod.ts";

/**
 * Puts the proxy last, or first with `hold`, which makes the application wait for the proxy. A native sidecar starts right
 * after the init container that sets up capture, before the application's init containers.
 */
export function reorder(pod: Pod, hold: boolean): Pod {
  const native = containerNamed(containersOf(pod, "initContainers"), PROXY) !== undefined;
  const init = native ? [INIT, VALIDATION, PROXY, CORE_DUMP, OTHERS] : [VALIDATION, OTHERS, INIT, CORE_DUMP];
  return ordered(ordered(pod, "initContainers", init), "containers", hold ? [PROXY, OTHERS] : [OTHERS, PROXY]);
}

/** Position of all other containers, which keep their order. */
const OTHERS = "";

function ordered(pod: Pod, list: ContainerList, order: readonly string[]): Pod {
  const before = containersOf(pod, list);
  const rank = ({ name }: ValueMap) => order.indexOf(order.find((each) => each === name) ?? OTHERS);
  const after = before.toSorted((a, b) => rank(a) - rank(b));
  return after.every((container, index) => container === before[index]) ? pod : withSpecKey(pod, list, after);
}
