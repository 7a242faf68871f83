/**
 * Metrics of a program in Prometheus' text format. In: counts, gauges and histograms that its parts keep, and what /proc
 * says of the process. Out: the text of a scrape (`expositionOf`).
 */
export { type Collector, expositionOf, type Family, type Labels, type Meter, meter, type Sample } from "./families.ts";
export { type Histogram, histogram } from "./histogram.ts";
export { processMetrics } from "./process_metrics.ts";
