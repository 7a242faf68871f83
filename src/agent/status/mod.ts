/**
 * The status server of the agent: whether Envoy is ready, probes of the application, merged metrics, the end on request.
 * `startStatusServer` serves what its options say; `readProbers` and `readScrapeTargets` read the settings behind them.
 */
export { readScrapeTargets, type ScrapeTarget, type ScrapeTargets } from "../metrics/scrape_targets.ts";
export { type Prober, type Probers, type ReadProbers, readProbers } from "./probes/config.ts";
export type { ProbeSettings } from "./probes/handler.ts";
export { type EnvoyPorts, startStatusServer, type StatusOptions, type StatusServer } from "./server.ts";
