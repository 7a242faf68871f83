import assert from "node:assert/strict";
import { urlSettings } from "./url_settings.ts";

const ROWS: readonly (readonly [path: string, settings: Readonly<Record<string, string>>])[] = [
  ["/inject", {}],
  ["/inject/", {}],
  ["/inject/cluster/c1/net/n1", { ISTIO_META_CLUSTER_ID: "c1", ISTIO_META_NETWORK: "n1" }],
  ["/inject/cluster/c1/net/n1/", { ISTIO_META_CLUSTER_ID: "c1", ISTIO_META_NETWORK: "n1" }],
  ["/inject/custom/v/cluster/c", { CUSTOM: "v", ISTIO_META_CLUSTER_ID: "c" }],
  ["/inject/net/a--slash--b", { ISTIO_META_NETWORK: "a/b" }],
  ["/inject/net/a%20b", { ISTIO_META_NETWORK: "a b" }],
  ["/inject/net/%zz", { ISTIO_META_NETWORK: "%zz" }],
  ["/inject/cluster/c1/net", { ISTIO_META_CLUSTER_ID: "c1" }],
  ["/inject//x/cluster/c1", { ISTIO_META_CLUSTER_ID: "c1" }],
  ["/inject/:ENV:cluster=c1:ENV:net=n=1:ENV:=x:ENV:y", { ISTIO_META_CLUSTER_ID: "c1", ISTIO_META_NETWORK: "n=1" }],
];

for (const [path, settings] of ROWS) {
  Deno.test(`urlSettings of "${path}"`, () => assert.deepEqual(urlSettings(path), settings));
}
