import assert from "node:assert/strict";
import { apiPath } from "./api_path.ts";

Deno.test("apiPath() has no other path for any name", () => {
  assert.equal(apiPath("api/v1", "pods"), "/api/v1/pods");
  assert.equal(apiPath("apis/apps/v1", "deployments", "shop"), "/apis/apps/v1/namespaces/shop/deployments");
  assert.equal(apiPath("api/v1", "pods", "../a", "b?c"), "/api/v1/namespaces/..%2Fa/pods/b%3Fc");
  assert.equal(apiPath("api/v1", "nodes", undefined, "n/1"), "/api/v1/nodes/n%2F1");
});
