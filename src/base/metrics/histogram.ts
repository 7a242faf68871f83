import type { Family, Sample } from "./families.ts";

export interface Histogram {
  observe(value: number): void;
  readonly collect: () => readonly Family[];
}

/**
 * Creates a histogram without labels. The upper bounds of its buckets must ascend; values beyond the last bound are
 * counted too.
 */
export function histogram(name: string, help: string, bounds: readonly number[]): Histogram {
  const counts = bounds.map(() => 0);
  const total = { sum: 0, count: 0 };
  return {
    observe(value) {
      const bucket = bounds.findIndex((bound) => value <= bound);
      if (bucket >= 0) counts[bucket] = (counts[bucket] ?? 0) + 1;
      total.sum += value;
      total.count++;
    },
    collect: () => [{ name, help, type: "histogram", samples: samplesOf(bounds, counts, total) }],
  };
}

/** Returns the samples. The count of a bucket includes all smaller buckets. */
function samplesOf(
  bounds: readonly number[],
  counts: readonly number[],
  total: { sum: number; count: number },
): Sample[] {
  let below = 0;
  const buckets = bounds.map((bound, index): Sample => {
    below += counts[index] ?? 0;
    return { suffix: "_bucket", labels: { le: String(bound) }, value: below };
  });
  return [
    ...buckets,
    { suffix: "_bucket", labels: { le: "+Inf" }, value: total.count },
    { suffix: "_sum", value: total.sum },
    { suffix: "_count", value: total.count },
  ];
}
