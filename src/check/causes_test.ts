import assert from "node:assert/strict";
import { causesFirst } from "./causes.ts";
import { resultOf } from "./result.ts";
import type { CheckResult } from "./result_schema.ts";
import { ALL_CHECKS } from "./checks/all.ts";

function result(id: string, of: CheckResult["result"], objects: readonly string[] = []): CheckResult {
  const check = ALL_CHECKS.find((each) => each.id === id);
  assert(check !== undefined, id);
  return resultOf(check, { result: of, objects });
}

function shown(results: readonly CheckResult[]): readonly string[] {
  return causesFirst(results).map(({ id, becauseOf }) => becauseOf === "" ? id : `${id} because of ${becauseOf}`);
}

Deno.test("a cause comes before its consequence, which names the cause", () => {
  const results = [
    result("api-reachable", "ok"),
    result("injector-config-present", "error"),
    result("webhook-overlap", "ok"),
    result("webhook-exists", "error"),
    result("namespace-one-label", "ok"),
  ];
  assert.deepEqual(shown(results), [
    "webhook-exists",
    "webhook-overlap",
    "api-reachable",
    "injector-config-present because of webhook-exists",
    "namespace-one-label",
  ]);
});

Deno.test("without a failure the order stays; a warning that explains an error comes before it", () => {
  const well = [result("api-reachable", "ok"), result("webhook-exists", "ok"), result("pod-security", "warning")];
  assert.deepEqual(shown(well), ["api-reachable", "webhook-exists", "pod-security"]);
  const refused = result("workload-pods-created", "error", ["deployment/shop/web"]);
  const results = [well[0] ?? refused, refused, result("resource-quota", "warning", ["namespace/shop"])];
  assert.deepEqual(shown(results), [
    "resource-quota",
    "api-reachable",
    "workload-pods-created because of resource-quota",
  ]);
});

Deno.test("a problem of a namespace or pod does not explain problems of other namespaces or pods", () => {
  const cert = result("namespace-root-cert", "error", ["namespace/shop"]);
  const ready = (...pods: readonly string[]) => result("proxy-ready", "error", pods);
  assert.deepEqual(shown([cert, ready("pod/shop/a")]), [
    "namespace-root-cert",
    "proxy-ready because of namespace-root-cert",
  ]);
  assert.deepEqual(shown([cert, ready("pod/shop/a", "pod/pay/b")]), ["namespace-root-cert", "proxy-ready"]);
  const image = result("proxy-image", "error", ["pod/shop/a"]);
  assert.deepEqual(shown([ready("pod/shop/b"), image]), ["proxy-ready", "proxy-image"]);
  assert.deepEqual(shown([ready("pod/shop/a"), image]), ["proxy-image", "proxy-ready because of proxy-image"]);
});
