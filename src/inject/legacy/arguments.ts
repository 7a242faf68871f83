/** Reads and adds arguments of the proxy container. */
import { parseQuantity, scaledValue } from "../../kube/mod.ts";
import { mapAt, textsAt, type ValueMap } from "../../base/value.ts";
import { withKey } from "../pod/change.ts";

/** The value after `--name`, `-name` or `--name=`; `undefined` if the flag is missing or is the last argument. */
export function flagValue(container: ValueMap, name: string): string | undefined {
  const args = textsAt(container, "args");
  const flags = args.map((arg) => /^--?([^=]*)(?:=(\d+))?$/.exec(arg.trim()));
  const at = flags.findIndex((flag) => flag?.[1] === name);
  return at < 0 ? undefined : flags[at]?.[2] ?? args[at + 1];
}

/**
 * Adds `--concurrency`, which old templates leave to the injector. The value is the CPU limit, or the CPU request if
 * there is no limit, rounded up. Returns the same container if the flag is above 0 already, or if the container has no
 * CPU limit and no CPU request.
 */
export function withConcurrency(proxy: ValueMap): ValueMap {
  if (Number(flagValue(proxy, "concurrency") ?? 0) > 0) return proxy;
  const resources = mapAt(proxy, "resources");
  const cpus = wholeCpus(mapAt(resources, "limits")) || wholeCpus(mapAt(resources, "requests"));
  return cpus === 0 ? proxy : withKey(proxy, "args", [...textsAt(proxy, "args"), "--concurrency", String(cpus)]);
}

function wholeCpus(quantities: ValueMap): number {
  const quantity = parseQuantity(String(quantities["cpu"] ?? "0"));
  return quantity === undefined ? 0 : Math.max(0, Math.ceil(Number(scaledValue(quantity, -3)) / 1000));
}
