import assert from "node:assert/strict";
import { readTokenRules } from "../envoy/token_rules.ts";
import { readConnection } from "../question/read_connection.ts";
import { requestOf } from "./request.ts";
import { tokenRuling } from "./token.ts";

const PROVIDERS = {
  "origins-0": { issuer: "https://own.example" },
  "origins-1": { issuer: "https://two.example", from_headers: [{ name: "X-Token" }] },
};
const own = { requires_any: { requirements: [{ provider_name: "origins-0" }, { allow_missing: {} }] } };
const OPTIONAL = { providers: PROVIDERS, rules: [{ match: { prefix: "/" }, requires: own }] };

function part(value: object): string {
  return new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
}

const token = (payload: object) => `${part({ alg: "RS256" })}.${part(payload)}.c2ln`;
const NOW = 1_700_000_000_000;

function ruling(config: object, header: readonly string[], path = "/") {
  const flags = { to: `web:80${path}`, from: undefined, toPort: undefined, method: undefined, header, sni: undefined };
  const connection = readConnection(flags);
  assert.ok(connection !== undefined);
  const request = requestOf(connection, "web", { isTls: false, hasClientCertificate: false });
  const { outcome, why } = tokenRuling(readTokenRules(JSON.parse(JSON.stringify(config))), request, NOW);
  return `${outcome} ${why}`;
}

Deno.test("tokenRuling: results that need no keys", () => {
  const good = token({ iss: "https://own.example", exp: 1_800_000_000 });
  const cases = [
    [[], "none the request has no token"],
    [["Authorization: Basic eA=="], "none the request has no token"],
    [["Authorization: Bearer x"], "refused the token does not have the form HEADER.PAYLOAD.SIGNATURE"],
    [["Authorization: Bearer a.b.c"], "refused the token does not have the form HEADER.PAYLOAD.SIGNATURE"],
    [
      [`Authorization: Bearer ${token({ iss: "x" })}`],
      `refused no RequestAuthentication accepts the token's issuer "x"`,
    ],
    [[`Authorization: Bearer ${token({ iss: "https://own.example", exp: 1 })}`], "refused the token has expired"],
    [[`Authorization: Bearer ${good}`], "unknown "],
    [[`X-Token: ${good}`], "unknown "],
  ] as const;
  for (const [header, expected] of cases) assert.equal(ruling(OPTIONAL, header), expected);
  assert.equal(ruling(OPTIONAL, [], `/?access_token=${good}`), "unknown ");
});

Deno.test("tokenRuling: a token may be required, and any issuer allowed", () => {
  const required = { providers: PROVIDERS, rules: [{ requires: { provider_name: "origins-0" } }] };
  assert.equal(ruling(required, []), "missing the request has no token");
  const any = {
    providers: { any: {} },
    rules: [{ requires: { requires_all: { requirements: [{ allow_missing: {} }] } } }],
  };
  assert.equal(ruling(any, [`Authorization: Bearer ${token({ iss: "x" })}`]), "unknown ");
  assert.equal(ruling(any, []), "none the request has no token");
});

Deno.test("tokenRuling: a filter that lets wrong tokens pass refuses none", () => {
  const header = [`Authorization: Bearer ${token({ iss: "x" })}`];
  const requires = {
    requires_any: { requirements: [{ provider_name: "origins-0" }, { allow_missing_or_failed: {} }] },
  };
  assert.equal(ruling({ providers: PROVIDERS, rules: [{ requires }] }, header), "unknown ");
  assert.equal(ruling({ providers: PROVIDERS, rules: [{ requires }] }, []), "none the request has no token");
  assert.equal(ruling({ providers: PROVIDERS, rules: [] }, header), "unknown ");
});
