import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { AnswerError, type Download } from "../../platform/http.ts";
import type { World } from "../../platform/world.ts";
import { sha256Of } from "./unpack.ts";
import { imageName, openImage } from "./registry.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

Deno.test("imageName: host, repository, and tag or digest", () => {
  const names = (url: string) => Object.values(imageName(url));
  assert.deepEqual(names("oci://example.org/team/auth:1.2"), ["example.org", "team/auth", "1.2"]);
  assert.deepEqual(names("oci://example.org:5000/auth"), ["example.org:5000", "auth", "latest"]);
  assert.deepEqual(names(`oci://example.org/auth:1@${DIGEST}`), ["example.org", "auth", DIGEST]);
  assert.deepEqual(names("oci://auth"), ["index.docker.io", "library/auth", "latest"]);
  assert.deepEqual(names("oci://docker.io/team/auth"), ["index.docker.io", "team/auth", "latest"]);
  for (const wrong of ["oci://", "oci://example.org/a?b", "oci://example.org/a@sha256:1"]) {
    assert.throws(() => imageName(wrong), /does not name an image/);
  }
});

const MODULE = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
const [CHALLENGE, BASIC] = [
  'Bearer realm="https://auth.example.org/token",service="s",scope="pull"',
  'Basic realm="a"',
];

interface Given {
  readonly challenge: string;
  /** The header that the registry wants. */
  readonly wanted: string;
  /** What the server for tokens answers; `undefined`: 404. */
  readonly token?: ((url: URL, options: Download) => string | undefined) | undefined;
}

/** A world with files and a registry at example.org; `asked` gets its requests. */
async function registry(files: Record<string, string>, given: Given, asked: string[] = []): Promise<World> {
  const world = fakeWorld({ files });
  const layer = {
    mediaType: "application/vnd.module.wasm.content.layer.v1+wasm",
    digest: `sha256:${await sha256Of(MODULE)}`,
  };
  const manifest = JSON.stringify({ layers: [layer] });
  function answer(url: URL, options: Download): BlobPart | AnswerError {
    const refusal = (status: number, headers = {}) =>
      new AnswerError(`it answered ${status}`, status, new Headers(headers));
    if (url.host === "auth.example.org") return given.token?.(url, options) ?? refusal(404);
    if (options.headers?.["authorization"] !== given.wanted) {
      return refusal(401, { "www-authenticate": given.challenge });
    }
    return url.pathname.includes("/blobs/") ? MODULE : manifest;
  }
  const fetch = (url: string, options: Download = {}) => {
    asked.push(`${options.form === undefined ? "GET" : "POST"} ${url}`);
    const found = answer(new URL(url), options);
    return found instanceof AnswerError ? Promise.reject(found) : Promise.resolve(new Blob([found]).stream());
  };
  return { ...world, network: { ...world.network, fetch } };
}

async function load(world: World, pullSecret?: string): Promise<Uint8Array> {
  const access = { isInsecure: false, signal: new AbortController().signal, pullSecret, files: ["/docker.json"] };
  return await (await openImage(world, "oci://example.org/team/auth:1", access)).load();
}

const file = (config: object) => ({ "/docker.json": JSON.stringify(config) });

Deno.test("openImage: a password of the pull secret, else of Docker's file", async () => {
  const given = { challenge: BASIC, wanted: "Basic YTpi" };
  const auths = { "example.org": { auth: "YTpi" } };
  assert.deepEqual(await load(await registry(file({ auths }), given)), MODULE);
  assert.deepEqual(await load(await registry({}, given), JSON.stringify({ auths })), MODULE);
  // A pull secret is the only source then.
  await assert.rejects(load(await registry(file({ auths }), given), "{}"), {
    message: `"example.org" wants a password: the WasmPlugin's pull secret has no credential for this registry`,
  });
  await assert.rejects(load(await registry({}, given)), {
    message: /wants a password: the WasmPlugin has no pull secret$/,
  });
});

Deno.test("openImage: credential helpers are not run, and the error reports this", async () => {
  const config = file({ auths: { "example.org": {} }, credHelpers: { "example.org": "ecr-login" } });
  const message =
    'the WasmPlugin has no pull secret, and the agent does not run "docker-credential-ecr-login" of "/docker.json"';
  const of = (challenge: string, token?: Given["token"]) =>
    registry(config, { challenge, wanted: "Basic YTpi", token });
  await assert.rejects(load(await of(BASIC)), { message: `"example.org" wants a password: ${message}` });
  await assert.rejects(load(await of(CHALLENGE, () => '{"token":"anonymous"}')), {
    message: `it answered 401: ${message}`,
  });
});

Deno.test("openImage: a password or an identity token is exchanged for a token", async () => {
  const given = (token: Given["token"]) => ({ challenge: CHALLENGE, wanted: "Bearer T", token });
  const asked: string[] = [];
  const basic = file({ auths: { "https://example.org/v2/": { username: "a", password: "b" } } });
  const world = await registry(
    basic,
    given((_, { headers }) => headers?.["authorization"] === "Basic YTpi" ? '{"token":"T"}' : "{}"),
    asked,
  );
  assert.deepEqual(await load(world), MODULE);
  assert.equal(asked[1], "GET https://auth.example.org/token?service=s&scope=pull");

  const identity = file({
    auths: { "example.org/team/auth": { auth: "MDo=", identitytoken: "refresh" }, "example.org": { auth: "YTpi" } },
  });
  const forms: unknown[] = [];
  const tokens = await registry(identity, given((_, { form }) => (forms.push(form), '{"access_token":"T"}')));
  assert.deepEqual(await load(tokens), MODULE);
  assert.deepEqual(forms, [
    { service: "s", scope: "pull", client_id: "kubectl-mesh", grant_type: "refresh_token", refresh_token: "refresh" },
  ]);
  const old = await registry(identity, given((_, { form }) => form === undefined ? '{"token":"T"}' : undefined));
  assert.deepEqual(await load(old), MODULE);
});

Deno.test("openImage: a token of the registry is not exchanged", async () => {
  const asked: string[] = [];
  const auths = { "example.org": { registrytoken: "T" } };
  const world = await registry(file({ auths }), { challenge: CHALLENGE, wanted: "Bearer T" }, asked);
  assert.deepEqual(await load(world), MODULE);
  assert.equal(asked.some((each) => each.includes("auth.example.org")), false);
});
