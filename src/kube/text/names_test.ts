import assert from "node:assert/strict";
import { isNamespaceName, resourceName } from "./names.ts";

Deno.test("resourceName: kind and group in lower case as kubectl prints them", () => {
  assert.equal(resourceName("apps/v1", "Deployment", "web"), "deployment.apps/web");
  assert.equal(resourceName("v1", "Pod", "x"), "pod/x");
  assert.equal(resourceName("apps.openshift.io/v1", "DeploymentConfig", "d"), "deploymentconfig.apps.openshift.io/d");
  assert.equal(resourceName("", "", "x"), "x");
});

Deno.test("isNamespaceName() accepts up to 63 lower-case letters, digits and - between them", () => {
  for (const text of ["a", "1-20", "shop", "a".repeat(63)]) assert.ok(isNamespaceName(text), text);
  for (const text of ["", "Shop", "a_b", "a.b", "-a", "a-", "a\n", "a".repeat(64)]) {
    assert.ok(!isNamespaceName(text), text);
  }
});
