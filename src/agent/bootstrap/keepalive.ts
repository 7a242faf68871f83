import type { Value, ValueMap } from "../../core/value.ts";

/**
 * `tcp_keepalive` of a TcpKeepalive: numbers as Istio writes them, in an object, which Envoy reads as plain numbers.
 * Source: Istio's option.keepaliveConverter.
 */
export function keepalive({ probes, time, interval }: ValueMap): ValueMap {
  return {
    ...wrapped("keepalive_probes", Number(probes ?? 0)),
    ...wrapped("keepalive_time", seconds(time)),
    ...wrapped("keepalive_interval", seconds(interval)),
  };
}

function wrapped(name: string, value: number): ValueMap {
  return value > 0 ? { [name]: { value } } : {};
}

/** Whole seconds of a duration in its JSON form. */
function seconds(value: Value | undefined): number {
  return typeof value === "string" ? Math.trunc(Number(value.replace(/s$/, ""))) : 0;
}
