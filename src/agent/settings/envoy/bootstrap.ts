/** How many connections the proxy takes at once. */
import { parseUint } from "../../../core/net.ts";
import { mapAt, type ValueMap } from "../../../core/value.ts";

const NO_LIMIT = 2_147_483_647;
const METADATA_KEY = "ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS";
const RUNTIME_KEY = "overload.global_downstream_max_connections";

/**
 * The first of `connectionSettings.globalDownstreamConnectionLimit`, the key of `proxyMetadata`, the runtime value, no
 * limit. A value that is not a number is ignored with a warning.
 */
export function connectionLimit(proxyConfig: ValueMap, warnings: string[]): number {
  const settings = mapAt(proxyConfig, "connectionSettings");
  const limit = settings["globalDownstreamConnectionLimit"];
  if (typeof limit === "number" && limit > 0) return limit;
  const asked = [mapAt(proxyConfig, "proxyMetadata")[METADATA_KEY], mapAt(proxyConfig, "runtimeValues")[RUNTIME_KEY]];
  for (const text of asked) {
    if (typeof text !== "string" || text === "") continue;
    const number = parseUint(text, 32);
    if (typeof number === "number") return number;
    warnings.push(`The connection limit "${text}" is ignored: it is not a number`);
  }
  return NO_LIMIT;
}
