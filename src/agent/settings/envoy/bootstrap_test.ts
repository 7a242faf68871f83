import assert from "node:assert/strict";
import type { ValueMap } from "../../../base/value.ts";
import { connectionLimit } from "./bootstrap.ts";

Deno.test("connectionLimit: settings, metadata, runtime value, none", () => {
  const limit = (config: ValueMap) => {
    const warnings: string[] = [];
    return [connectionLimit(config, warnings), warnings.length];
  };
  const settings = { connectionSettings: { globalDownstreamConnectionLimit: 1 } };
  const metadata = { proxyMetadata: { ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: "2" } };
  const runtime = { runtimeValues: { "overload.global_downstream_max_connections": "3" } };
  assert.deepEqual(limit({ ...settings, ...metadata, ...runtime }), [1, 0]);
  assert.deepEqual(limit({ ...metadata, ...runtime }), [2, 0]);
  assert.deepEqual(limit(runtime), [3, 0]);
  assert.deepEqual(limit({}), [2147483647, 0]);
  assert.deepEqual(limit({ proxyMetadata: { ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: "many" }, ...runtime }), [
    3,
    1,
  ]);
});
