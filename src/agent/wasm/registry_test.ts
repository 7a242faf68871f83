import assert from "node:assert/strict";
import { credentialOf } from "./pull_secret.ts";
import { imageName, realmOf } from "./registry.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

Deno.test("imageName: host, repository, and tag or digest", () => {
  const names = (url: string) => Object.values(imageName(url));
  assert.deepEqual(names("oci://example.org/team/auth:1.2"), ["example.org", "team/auth", "1.2"]);
  assert.deepEqual(names("oci://example.org:5000/auth"), ["example.org:5000", "auth", "latest"]);
  assert.deepEqual(names(`oci://example.org/auth:1@${DIGEST}`), ["example.org", "auth", DIGEST]);
  assert.deepEqual(names("oci://auth"), ["index.docker.io", "library/auth", "latest"]);
  assert.deepEqual(names("oci://docker.io/team/auth"), ["index.docker.io", "team/auth", "latest"]);
  for (const wrong of ["oci://", "oci://example.org/a?b", "oci://example.org/a@sha256:1"]) {
    assert.throws(() => imageName(wrong), /names no image/);
  }
});

Deno.test("credentialOf: the entry of the host, and nobody else's", () => {
  const secret = JSON.stringify({
    auths: { "example.org": { auth: "YTpi" }, "https://index.docker.io/v1/": { username: "a", password: "b" } },
  });
  assert.equal(credentialOf(secret, "example.org"), "Basic YTpi");
  assert.equal(credentialOf(secret, "index.docker.io"), "Basic YTpi");
  assert.equal(credentialOf(secret, "example.com"), undefined);
  assert.equal(credentialOf(undefined, "example.org"), undefined);
  assert.throws(() => credentialOf("{secret", "example.org"), { message: "The pull secret is no JSON" });
});

Deno.test("credentialOf: characters outside of ASCII, and none that breaks the header", () => {
  const headerOf = (entry: object) => credentialOf(JSON.stringify({ auths: { "example.org": entry } }), "example.org");
  assert.equal(headerOf({ username: "a", password: "ü€" }), `Basic ${new TextEncoder().encode("a:ü€").toBase64()}`);
  assert.equal(headerOf({ auth: "YT\npi\n" }), "Basic YTpi");
  assert.equal(headerOf({ registrytoken: "a b\r\n" }), "Bearer ab");
});

Deno.test("realmOf: no server of the cluster or the node, except for the registry itself", () => {
  const is = (realm: string, registry = "example.org", isInsecure = false) => {
    try {
      return realmOf(realm, registry, isInsecure).host !== "";
    } catch {
      return false;
    }
  };
  const local =
    "localhost localhost. a.localhost 127.0.0.1 2130706433 0.0.0.0 10.1.2.3 100.64.0.1 169.254.169.254 [::] [::1] " +
    "[::ffff:10.0.0.1] [fd00::1] [fe80::1] metadata.google.internal metadata.google.internal.";
  assert.deepEqual(local.split(" ").filter((host) => is(`https://${host}/token`)), []);
  assert.equal(is("https://auth.example.org/token"), true);
  assert.equal(is("https://10.0.0.5:5000/token", "10.0.0.5:5000"), true);
  assert.equal(is("https://10.0.0.5:6443/token", "10.0.0.5:5000"), false);
  assert.equal(is("http://auth.example.org/token"), false);
  assert.equal(is("http://auth.example.org/token", "example.org", true), true);
  assert.equal(is("file:///token", "example.org", true), false);
});
