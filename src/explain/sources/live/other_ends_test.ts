import assert from "node:assert/strict";
import { liveEnds } from "./other_ends.ts";

Deno.test("endpointsOf() asks for no Service where the host cannot be one", async () => {
  const asked: string[] = [];
  const api = {
    get: (path: string) => {
      asked.push(path);
      return Promise.resolve(undefined);
    },
    list: () => Promise.reject(new Error("listed")),
  };
  const ends = liveEnds(api, () => Promise.reject(new Error("read")));
  for (const host of ["10.0.0.9", "2001:db8::9", "web.shop.example.com"]) {
    assert.equal(await ends.endpointsOf(host, 80, "shop"), `"${host}" is not the name of a Service`);
  }
  assert.deepEqual(asked, []);
  for (const host of ["web", "web.shop", "web.shop.svc", "web.shop.svc.cluster.local"]) {
    assert.equal(await ends.endpointsOf(host, 80, "shop"), "there is no Service shop/web");
  }
  assert.deepEqual(new Set(asked), new Set(["/api/v1/namespaces/shop/services/web"]));
});
