import assert from "node:assert/strict";
import { rulingOf } from "../rules/rbac_match.ts";
import { readRbacRules } from "./rbac.ts";

Deno.test("readRbacRules(): the decision of a matcher tree is unknown", () => {
  const rbac = readRbacRules({ matcher: { on_no_match: { action: { name: "deny" } } } }, "rbac");
  const access = { request: undefined, destination: "10.0.0.8", port: 80, source: "10.0.0.9", identity: undefined };
  assert.equal(rulingOf(rbac, { ...access, serverName: "" }).outcome, "depends");
});
