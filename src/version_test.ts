import assert from "node:assert/strict";
import { BUILT_IN } from "./inject/default/mod.ts";
import { mapAt, textAt } from "./base/value.ts";
import { parseValues } from "./inject/config/values.ts";
import { ISTIO_RELEASE } from "./version.ts";

Deno.test("the agent reports the release that the built-in configuration is for", () => {
  const values = parseValues(BUILT_IN.values, "built-in values");
  assert.equal(ISTIO_RELEASE, textAt(mapAt(values, "global"), "tag"));
});
