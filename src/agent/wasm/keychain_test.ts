import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { credentialFor } from "./keychain.ts";

const IMAGE = { host: "example.org", repository: "team/auth" };

/** The credential of an entry in a pull secret. */
async function of(auths: object, host = IMAGE.host) {
  const keychain = { pullSecret: JSON.stringify({ auths }), files: [] };
  const found = await credentialFor(fakeWorld(), { ...IMAGE, host }, keychain);
  return "credential" in found ? found.credential : undefined;
}

Deno.test("credentialFor: only the entry of the same host", async () => {
  const auths = { "example.org": { auth: "YTpi" }, "https://index.docker.io/v1/": { username: "a", password: "b" } };
  assert.deepEqual(await of(auths), { basic: "Basic YTpi" });
  assert.deepEqual(await of(auths, "index.docker.io"), { basic: "Basic YTpi" });
  assert.equal(await of(auths, "example.com"), undefined);
  assert.equal(await of({ "example.org": {} }), undefined);
  await assert.rejects(credentialFor(fakeWorld(), IMAGE, { pullSecret: "{secret", files: [] }), {
    message: "The pull secret is not a JSON object",
  });
});

Deno.test("credentialFor: keeps non-ASCII characters, and removes characters that are invalid in a header", async () => {
  const headerOf = async (entry: object) => await of({ "example.org": entry });
  const basic = `Basic ${new TextEncoder().encode("a:ü€").toBase64()}`;
  assert.deepEqual(await headerOf({ username: "a", password: "ü€" }), { basic });
  assert.deepEqual(await headerOf({ auth: "YT\npi\n" }), { basic: "Basic YTpi" });
  assert.deepEqual(await headerOf({ registrytoken: "a b\r\n" }), { bearer: "Bearer ab" });
  assert.deepEqual(await headerOf({ identitytoken: "a" }), { identityToken: "a" });
});

Deno.test("credentialFor: without a pull secret the first file that exists, by repository, then by host", async () => {
  const config = (auth: string) =>
    JSON.stringify({ auths: { "example.org": { auth }, "example.org/team/auth": { auth: "T" } } });
  const world = fakeWorld({ files: { "/b.json": config("B"), "/c.json": config("C"), "/bad.json": "{secret" } });
  const found = (repository: string, files: string[]) =>
    credentialFor(world, { ...IMAGE, repository }, { pullSecret: undefined, files });
  assert.deepEqual(await found("team/auth", ["/a.json", "/b.json"]), { credential: { basic: "Basic T" } });
  assert.deepEqual(await found("other", ["/a.json", "/b.json", "/c.json"]), { credential: { basic: "Basic B" } });
  assert.deepEqual(await found("other", []), { missing: "the WasmPlugin has no pull secret" });
  await assert.rejects(found("other", ["/bad.json"]), { message: '"/bad.json" is not a JSON object' });
});
