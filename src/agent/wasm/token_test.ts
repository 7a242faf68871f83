import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import type { Download } from "../../platform/http.ts";
import { authorized, realmOf } from "./token.ts";

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

Deno.test("authorized: the server for tokens may redirect to no server of the cluster or the node", async () => {
  const world = fakeWorld();
  const asked: Download[] = [];
  const fetch = (_url: string, options: Download = {}) => {
    asked.push(options);
    return Promise.resolve(new Blob(['{"token":"T"}']).stream());
  };
  const registry = {
    host: "example.org",
    isInsecure: false,
    signal: new AbortController().signal,
    found: { missing: "none" },
  };
  const challenge = 'Bearer realm="https://auth.example.org/token"';
  assert.equal(await authorized({ ...world, network: { ...world.network, fetch } }, challenge, registry), "Bearer T");
  const follows = asked[0]?.follows;
  assert.ok(follows !== undefined);
  const followed = ["https://example.com/", "https://example.org/", "https://10.0.0.1/", "http://example.com/"]
    .filter((url) => follows(new URL(url)));
  assert.deepEqual(followed, ["https://example.com/", "https://example.org/"]);
});
