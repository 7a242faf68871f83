import assert from "node:assert/strict";
import { isSecretName } from "./names.ts";
import { Redactor } from "./redactor.ts";

Deno.test("names of secrets, and names that have such words and are none", () => {
  const secret =
    "DB_PASSWORD TOKEN api_key dd_api_key AWS_SECRET_ACCESS_KEY accessToken auth_password auth x-api-key Authorization " +
    "spring.datasource.password clientSecret private_key signing-key PGPASSWORD MYSQL_PWD DB_PASS passwd credentials " +
    "session_ticket_keys MYSQL_PW PASSCODE wifi_psk oauth_hmac apikey secretkey my_key";
  const open =
    "key keys topologyKey public_key metadata_key runtime_key secretName imagePullSecrets token_bucket max_tokens " +
    "tokens_per_fill serviceAccountToken automountServiceAccountToken secretKeyRef authority authenticated jwt_authn " +
    "ext_authz access_token_file token_endpoint auth_type keepalive monkey keyboard author host_env_keys dynamic_active_secrets " +
    "passthrough key_usage credential_name jwtPolicy ns[shop]-policy[allow-token]-rule[0] token.shop.svc.cluster.local";
  assert.deepEqual(secret.split(" ").filter((name) => !isSecretName(name)), []);
  assert.deepEqual(open.split(" ").filter(isSecretName), []);
});

/** Texts with secrets, and the redacted texts. */
const TEXTS: readonly (readonly [string, string])[] = [
  ["password=swordfish next", "password=[redacted] next"],
  ["/login?token=swordfish&page=2", "/login?token=[redacted]&page=2"],
  ['--api-key "sword fish" -v', '--api-key "[redacted]" -v'],
  ["run --password swordfish --verbose", "run --password [redacted] --verbose"],
  ["run --password --verbose", "run --password --verbose"],
  ["Authorization: Basic abc\nnext", "Authorization: [redacted]\nnext"],
  ["':path', '/'\n'cookie', 'id=swordfish'\n'a', 'b'", "':path', '/'\n'cookie', '[redacted]'\n'a', 'b'"],
  ["https://ada:swordfish@example.com/x", "https://[redacted]@example.com/x"],
  ["token-service:8080", "token-service:8080"],
  ["curl -u ada:swordfish https://a", "curl -u ada:[redacted] https://a"],
  ["curl '--user=ada:swordfish'", "curl '--user=ada:[redacted]'"],
  ["docker run -u 1000:1000 --user-agent a:b", "docker run -u 1000:1000 --user-agent a:b"],
  ['{"a":{"password":"swordfish","b":1}}', '{"a":{"password":"[redacted]","b":1}}'],
  ["a:\n  password: swordfish\n", "a:\n  password: '[redacted]'\n"],
  ["{{ if .token }}\npassword: swordfish\n", "{{ if .token }}\npassword: [redacted]\n"],
  ["a: 1\n# password: swordfish\n", "a: 1\n# password: [redacted]\n"],
  [btoa('{"password":"swordfish"}'), "[redacted]"],
  [btoa("nothing to see here"), btoa("nothing to see here")],
  ["{password: swordfish, a: 1}", "password: '[redacted]'\na: 1\n"],
];

Deno.test("secrets in texts: assignments, arguments, URLs, JSON, YAML and base64", () => {
  for (const [text, want] of TEXTS) assert.deepEqual(new Redactor().value([text]), [want], text);
});

Deno.test("texts within texts are read to a depth, and a hostile one ends", () => {
  let text = '{"password":"swordfish"}';
  for (let depth = 0; depth < 4; depth++) text = JSON.stringify({ a: text });
  assert.equal(String(new Redactor().value(text)).includes("swordfish"), false);
  const hostile = ["[".repeat(200_000), "a: &a [*a]\n".repeat(100), "=".repeat(200_000), `${"a".repeat(300_000)}=`];
  for (const each of [...hostile, "token=".repeat(50_000), "://".repeat(100_000), '"password":"'.repeat(20_000)]) {
    new Redactor().value(each);
  }
});

Deno.test("numbers under a secret name are replaced, those within a secret are not; __proto__ is a name", () => {
  const value = JSON.parse('{"password":123,"secret_volume":{"defaultMode":420},"__proto__":{"password":"x"}}');
  const result = JSON.stringify(new Redactor().value(value));
  assert.equal(
    result,
    '{"password":"[redacted]","secret_volume":{"defaultMode":420},"__proto__":{"password":"[redacted]"}}',
  );
});

Deno.test("private parts of a JSON Web Key go, the public ones stay", () => {
  const jwk = { kty: "oct", k: "swordfish", kid: "1", alg: "HS256" };
  assert.deepEqual(new Redactor().value({ keys: [jwk] }), {
    keys: [{ kty: "oct", k: "[redacted]", kid: "1", alg: "HS256" }],
  });
});

Deno.test("the session ticket keys of a secret of Envoy go, its certificate stays", () => {
  const type = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
  const secret = { "@type": type, name: "a", session_ticket_keys: { keys: [{ inline_string: "swordfish" }] } };
  assert.deepEqual(new Redactor().value(secret), {
    ...{ "@type": type, name: "a" },
    session_ticket_keys: { keys: [{ inline_string: "[redacted]" }] },
  });
});
