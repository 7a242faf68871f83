import assert from "node:assert/strict";
import { readRbacRules } from "../envoy/rbac.ts";
import type { ValueMap } from "../../base/value.ts";
import { type Access, rulingOf } from "./rbac_match.ts";

const REQUEST = {
  authority: "web",
  method: "GET",
  path: "/",
  headers: new Map(),
  isTls: true,
  hasClientCertificate: true,
};

const ACCESS: Access = {
  request: REQUEST,
  destination: "10.0.0.9",
  port: 8081,
  source: "10.0.0.8",
  identity: "spiffe://cluster.local/ns/shop/sa/a",
  serverName: "",
};

function ruling(policies: object, access: Partial<Access> = {}) {
  const config: ValueMap = JSON.parse(JSON.stringify({ rules: { policies } }));
  const { outcome, policies: decided } = rulingOf(readRbacRules(config, "rbac"), { ...ACCESS, ...access });
  return [outcome, ...decided.map(({ name }) => name)];
}

const other = { authenticated: { principal_name: { exact: "spiffe://cluster.local/ns/shop/sa/b" } } };
const port = (destination_port: number, more: readonly object[] = []) => ({
  permissions: [{ and_rules: { rules: [{ destination_port }, ...more] } }],
});

Deno.test("rulingOf: of the ALLOW policies that do not match, those about this request come first", () => {
  const api = { url_path: { path: { prefix: "/api" } } };
  const policies = {
    a: { ...port(8080), principals: [other] },
    b: { ...port(8081, [api]), principals: [{ any: true }] },
    c: { ...port(8081), principals: [other] },
  };
  assert.deepEqual(ruling(policies), ["denied", "c", "b", "a"]);
});

Deno.test("rulingOf: a request without a token matches no claim", () => {
  const claim = {
    metadata: { filter: "envoy.filters.http.jwt_authn", path: [{ key: "payload" }, { key: "iss" }], value: {} },
  };
  const policies = { a: { permissions: [{ any: true }], principals: [claim] } };
  assert.deepEqual(ruling(policies, { hasNoToken: true }), ["denied", "a"]);
  assert.deepEqual(ruling(policies), ["depends", "a"]);
  const negated = { a: { permissions: [{ any: true }], principals: [{ not_id: claim }] } };
  assert.deepEqual(ruling(negated, { hasNoToken: true }), ["allowed", "a"]);
});
