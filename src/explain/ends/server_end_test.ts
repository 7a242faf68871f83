import assert from "node:assert/strict";
import { type Trust, trustStep } from "./server_end.ts";

function side(roots: readonly string[], issuers: readonly string[]): Trust {
  return { roots: new Set(roots.map((root) => `${root} until 2036-01-01`)), issuers: new Set(issuers) };
}

Deno.test("each side must trust who signed the other's certificate", () => {
  const why = (client: Trust, server: Trust) => trustStep(client, server)?.end?.reason ?? "";
  assert.equal(why(side(["CN=a"], ["CN=a"]), side(["CN=a"], ["CN=a"])), "");
  // An intermediate authority has signed; its issuer is trusted.
  assert.equal(why(side(["CN=a"], ["CN=b", "CN=a"]), side(["CN=a"], ["CN=a"])), "");
  assert.match(why(side(["CN=a"], ["CN=a"]), side(["CN=b"], ["CN=b"])), /^The certificates have no common root/);
  assert.equal(
    why(side(["CN=a", "CN=b"], ["CN=a"]), side(["CN=b"], ["CN=b"])),
    "The client's certificate is signed by CN=a, which the server does not trust",
  );
  assert.equal(
    why(side(["CN=a"], ["CN=a"]), side(["CN=a", "CN=b"], ["CN=b"])),
    "The server's certificate is signed by CN=b, which the client does not trust",
  );
  // Who signed is not known: one common root is enough.
  assert.equal(why(side(["CN=a", "CN=b"], []), side(["CN=b"], [])), "");
  assert.equal(why(side([], ["CN=a"]), side(["CN=b"], ["CN=b"])), "");
});
