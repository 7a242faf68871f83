import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { lifetimeOf, readToken } from "./token.ts";

const jwt = (claims: string) => `e30.${btoa(claims)}.x`;
const NOTHING = { audiences: [], notBefore: undefined, expires: undefined };

const CLAIMS: readonly (readonly [string, string, ReturnType<typeof lifetimeOf>])[] = [
  ["of Kubernetes", jwt('{"aud":["istio-ca"],"iat":10,"nbf":20,"exp":30}'), {
    audiences: ["istio-ca"],
    notBefore: 20_000,
    expires: 30_000,
  }],
  ["with one audience and no nbf", jwt('{"aud":"a","iat":10}'), {
    audiences: ["a"],
    notBefore: 10_000,
    expires: undefined,
  }],
  ["of other types", jwt('{"aud":[1,{}],"exp":"30","nbf":null}'), NOTHING],
  ["with a list for claims", jwt("[1]"), NOTHING],
  ["that is none", "opaque", NOTHING],
  ["with a part that is no JSON", "a.b.c", NOTHING],
  ["in the alphabet of URLs", "e30.eyJhdWQiOiLDv8O_In0.x", { ...NOTHING, audiences: ["ÿÿ"] }],
];

for (const [name, text, expected] of CLAIMS) {
  Deno.test(`lifetimeOf() a token ${name}`, () => assert.deepEqual(lifetimeOf(text), expected));
}

Deno.test("readToken() removes characters that headers cannot have; undefined for an empty or absent file", async () => {
  const { files } = fakeWorld({ files: { a: " abc\n", b: " \n", c: "a\nbü" } });
  assert.equal((await readToken(files, "a"))?.text, "abc");
  assert.equal((await readToken(files, "c"))?.text, "ab");
  assert.deepEqual([await readToken(files, "b"), await readToken(files, "d"), await readToken(files, "")], [
    undefined,
    undefined,
    undefined,
  ]);
});
