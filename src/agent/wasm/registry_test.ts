import assert from "node:assert/strict";
import { credentialOf } from "./pull_secret.ts";
import { imageName } from "./registry.ts";

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
