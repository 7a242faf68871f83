/** Metrics of Wasm modules. Names, labels and help texts are pilot-agent's. */
import { type Family, meter } from "../../base/metrics/mod.ts";

export type FetchResult = "success" | "download_failure" | "manifest_failure" | "checksum_mismatched" | "fetch_failure";
export type ConversionResult =
  | "success"
  | "no_remote_load"
  | "unmarshal_failure"
  | "fetch_failure";

export type WasmMetrics = ReturnType<typeof wasmMetrics>;

export function wasmMetrics() {
  const entries = meter("gauge", "wasm_cache_entries", "number of Wasm remote fetch cache entries.");
  const lookups = meter("counter", "wasm_cache_lookup_count", "number of Wasm remote fetch cache lookups.");
  const fetches = meter(
    "counter",
    "wasm_remote_fetch_count",
    "number of Wasm remote fetches and results, including success, download failure, and checksum mismatch.",
  );
  const conversions = meter(
    "counter",
    "wasm_config_conversion_count",
    "number of Wasm config conversions and results, including success, no remote load, marshal failure, remote fetch " +
      "failure, miss remote fetch hint.",
  );
  return {
    cached: (count: number): void => entries.set(count),
    looked: (hit: boolean): void => lookups.add({ hit: String(hit) }),
    fetched: (result: FetchResult): void => fetches.add({ result }),
    converted: (result: ConversionResult): void => conversions.add({ result }),
    collect: (): Family[] => [entries, lookups, fetches, conversions].flatMap(({ collect }) => collect()),
  };
}
