/**
 * Metrics in Prometheus' text format. In: counters, gauges and histograms. Out: the
 * text of a scrape (`expositionOf`).
 */
export { type Collector, expositionOf, type Family, type Meter, meter, type Sample } from "./families.ts";
export { histogram } from "./histogram.ts";
