import assert from "node:assert/strict";
import { newsOf } from "./news.ts";

Deno.test("newsOf() names the server that is built, and for how long", () => {
  assert.equal(newsOf(new Map([["pilot-discovery", 1_000]]), 241_000), "building istiod (1 of 2), 4m\n");
  assert.equal(
    newsOf(new Map([["kube-apiserver", 0], ["kubectl", 30_000]]), 90_000),
    "building kube-apiserver (2 of 2), 1m 30s\nbuilding kubectl, 1m\n",
  );
});

Deno.test("newsOf() without a build says for how long the machine starts", () => {
  assert.equal(newsOf(new Map(), 30_000), "still starting, 30s\n");
});
