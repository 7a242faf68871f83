/**
 * Metrics in Prometheus' text format. In: counters, gauges and histograms, and the files of the process in /proc. Out: the
 * text of a scrape (`expositionOf`).
 */
export { type Collector, expositionOf, type Family, type Meter, meter } from "./families.ts";
export { type Histogram, histogram } from "./histogram.ts";
export { processMetrics } from "./process_metrics.ts";
