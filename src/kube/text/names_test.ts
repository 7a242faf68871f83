import assert from "node:assert/strict";
import { resourceName } from "./names.ts";

Deno.test("resourceName: kind and group in lower case as kubectl prints them", () => {
  assert.equal(resourceName("apps/v1", "Deployment", "web"), "deployment.apps/web");
  assert.equal(resourceName("v1", "Pod", "x"), "pod/x");
  assert.equal(resourceName("apps.openshift.io/v1", "DeploymentConfig", "d"), "deploymentconfig.apps.openshift.io/d");
  assert.equal(resourceName("", "", "x"), "x");
});
