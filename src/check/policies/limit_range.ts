/** Defaults and limits of LimitRanges (Kubernetes, "Limit Ranges"). The API server applies them again after webhooks. */
import type { V1LimitRangeItem } from "@kubernetes/client-node/models";
import type { LimitRange, Plain } from "../../kube/client/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import { type Amounts, amountsOf, amountText, milliOf } from "./pod_resources.ts";
import type { Demand } from "./quota.ts";

type Item = Plain<V1LimitRangeItem>;

function itemsOf(ranges: readonly LimitRange[], type: string): readonly Item[] {
  return ranges.flatMap(({ spec }) => spec?.limits ?? []).filter((item) => item.type === type);
}

/** Returns the requests and limits of a container, with the defaults of LimitRanges. */
export function withDefaults(container: ValueMap, ranges: readonly LimitRange[]): Amounts {
  const amounts = new Map(amountsOf(container));
  for (const entry of itemsOf(ranges, "Container")) {
    fill(amounts, "requests", entry.defaultRequest);
    fill(amounts, "limits", entry.default);
  }
  return amounts;
}

function fill(amounts: Map<string, bigint>, side: string, defaults: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(defaults)) {
    const milli = milliOf(value);
    if (milli !== undefined && !amounts.has(`${side}.${name}`)) amounts.set(`${side}.${name}`, milli);
  }
}

/** Returns the violations of LimitRanges by a sidecar, as clauses that follow the name of the LimitRange. */
export function rangeObstacles(ranges: readonly LimitRange[], demand: Demand): readonly string[] {
  const ofContainers = itemsOf(ranges, "Container").flatMap((entry) =>
    [...demand.containers].flatMap(([name, amounts]) => [
      ...above(entry, amounts, `the container "${name}"`),
      ...below(entry, amounts, `the container "${name}"`),
      ...tooFarApart(entry, amounts, `the container "${name}"`),
    ])
  );
  const ofPod = itemsOf(ranges, "Pod").flatMap((entry) => above(entry, demand.total, "a sidecar alone"));
  return [...ofContainers, ...ofPod];
}

/** Returns violations of the maximum, which applies to limits and requests. */
function above(entry: Item, amounts: Amounts, who: string): string[] {
  return bounds(entry, "max").flatMap(([name, most]) => {
    const limit = amounts.get(`limits.${name}`);
    const asked = limit ?? amounts.get(`requests.${name}`);
    if (asked === undefined || asked <= most) return [];
    return [`allows ${name} of at most ${amountText(most, name)}: ${who} needs ${amountText(asked, name)}`];
  });
}

function below(entry: Item, amounts: Amounts, who: string): string[] {
  return bounds(entry, "min").flatMap(([name, least]) => {
    const asked = amounts.get(`requests.${name}`);
    if (asked !== undefined && asked >= least) return [];
    const given = asked === undefined ? "nothing" : amountText(asked, name);
    return [`requires ${name} of at least ${amountText(least, name)}: ${who} requests ${given}`];
  });
}

function tooFarApart(entry: Item, amounts: Amounts, who: string): string[] {
  return bounds(entry, "maxLimitRequestRatio").flatMap(([name, ratio]) => {
    const [request, limit] = [amounts.get(`requests.${name}`), amounts.get(`limits.${name}`)];
    // The ratio and the amounts are in thousandths.
    if (request === undefined || limit === undefined || request * ratio >= limit * 1000n) return [];
    const [from, to] = [amountText(request, name), amountText(limit, name)];
    return [
      `allows a limit of ${name} ${
        amountText(ratio, "")
      } times the request: ${who} has the request ${from} and the limit ${to}`,
    ];
  });
}

function bounds(
  entry: Item,
  key: "max" | "min" | "maxLimitRequestRatio",
): readonly (readonly [name: string, milli: bigint])[] {
  return Object.entries(entry[key] ?? {}).flatMap(([name, value]) => {
    const milli = milliOf(value);
    return milli === undefined ? [] : [[name, milli] as const];
  });
}
