/** Metrics in Prometheus' text format: counters, gauges and histograms, and the text for a scrape (`expositionOf`). */
export { type Collector, expositionOf, type Family, type Meter, meter, type Sample } from "./families.ts";
export { histogram } from "./histogram.ts";
