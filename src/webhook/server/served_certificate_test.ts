import assert from "node:assert/strict";
import { testCertificate } from "../../../test/support/tls/certificates.ts";
import { MeshError } from "../../base/errors.ts";
import { startLog } from "../../platform/log.ts";
import type { KeyPair, TlsServer } from "../../platform/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import type { CertificateSource } from "../sources/source.ts";
import { serveNewest } from "./served_certificate.ts";

/** A source with a settable certificate, and a server that refuses a pair without a key. */
function served(first: KeyPair) {
  const world = fakeWorld({ now: new Date() });
  let current = first;
  let changed = () => {};
  const replaced: KeyPair[] = [];
  const source: CertificateSource = {
    ready: Promise.resolve(),
    current: () => current,
    problem: () => undefined,
    onChange: (handler) => {
      changed = handler;
      return () => {};
    },
    close: () => {},
  };
  const server: TlsServer = {
    port: 1,
    drain: () => {},
    close: () => Promise.resolve(true),
    replaceCertificate: (pair) => {
      if (pair.key === "") return Promise.reject(new MeshError("It cannot be used"));
      return Promise.resolve(void replaced.push(pair));
    },
  };
  const state = serveNewest(server, source, { log: startLog(world, "webhook"), clock: world.clock });
  const change = async (next: KeyPair) => {
    current = next;
    changed();
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { state, change, replaced, log: () => world.said.stderr };
}

Deno.test("the server gets each new certificate once, and its expiry is known", async () => {
  const [old, next] = [testCertificate(1n), testCertificate(50n)];
  const { state, change, replaced, log } = served(old);
  const before = state.notAfter();
  await change(old);
  assert.deepEqual(replaced, []);
  await change(next);
  assert.deepEqual(replaced, [next]);
  assert.equal(Math.round((state.notAfter().getTime() - before.getTime()) / 86_400_000), 49);
  assert.match(log(), /info webhook: Serving the new certificate on new connections, valid until 20/);
});

Deno.test("a certificate that the server refuses is a problem until one is served", async () => {
  const { state, change, log } = served(testCertificate());
  await change({ ...testCertificate(), key: "" });
  assert.equal(state.problem(), "It cannot be used");
  assert.match(log(), /error webhook: Cannot serve the new certificate, keeping the previous one: It cannot/);
  await change(testCertificate());
  assert.equal(state.problem(), undefined);
});

Deno.test("an expired certificate is a problem", () => {
  assert.match(served(testCertificate(-1n)).state.problem() ?? "", /^the certificate expired at 20\S+Z$/);
});
