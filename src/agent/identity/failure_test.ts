/** The reported problem of a missing certificate. */
import assert from "node:assert/strict";
import { FakeAuthority, type Signing } from "../../../test/support/agent/fake_authority.ts";
import {
  type Given,
  LIFETIME,
  ROOTS,
  START,
  startedIdentity,
  throws,
  TOKEN,
  TOKEN_FILE,
  tokenWith,
} from "../../../test/support/agent/started_identity.ts";
import { CODE, GrpcError } from "../grpc/mod.ts";
import { encodePem } from "../../golang/x509/mod.ts";

const refusal = (code: number, text: string) => new GrpcError(code, "status", `The server refused the call: ${text}`);
const unauthenticated = refusal(CODE.Unauthenticated, "request authenticate failure");
const leafOf = (csr: string, ca: FakeAuthority, changes: Partial<Signing> = {}) => {
  return ca.sign(csr, { notBefore: START - 120_000, notAfter: START + LIFETIME, ...changes });
};

/** What the authority does, what else is given, and the reported problem. */
const FAILURES: readonly (readonly [string, FakeAuthority["answer"] | undefined, Given, RegExp])[] = [
  [
    "the name is not known",
    throws(new GrpcError(CODE.Unavailable, "name", `Cannot find the address of "istiod": not known`)),
    {},
    /^No certificate: name: Cannot find the address of "istiod": not known; check that the control plane is installed/,
  ],
  [
    "the connection is refused",
    throws(new GrpcError(CODE.Unavailable, "connection", "Cannot connect: connection refused")),
    {},
    /^No certificate: connection: Cannot connect: connection refused; check that the control plane runs/,
  ],
  [
    "its certificate has other names",
    throws(new GrpcError(CODE.Unavailable, "tls", `the server's certificate is not for "a", but for "b", "c"`)),
    {},
    /^No certificate: TLS: the server's certificate is not for "a", but for "b", "c"; the expected name is .* "ISTIOD_SAN"$/,
  ],
  [
    "its certificate is of a root that is not trusted",
    throws(new GrpcError(CODE.Unavailable, "tls", "not signed by a trusted authority")),
    {},
    /: TLS: not signed .* authority; the trusted roots come from "\.\/root-cert\.pem" \("CA_ROOT_CA"\)$/,
  ],
  [
    "a port without TLS",
    throws(new GrpcError(CODE.Unavailable, "tls", "the server does not speak TLS on this port")),
    {},
    /: TLS: the server does not speak TLS on this port$/,
  ],
  [
    "there is no token",
    throws(unauthenticated),
    { files: { [TOKEN_FILE]: "" } },
    /: token: .*; "\.\/token" has no token: mount/,
  ],
  [
    "no token is wanted",
    throws(unauthenticated),
    { authority: { tokenFile: "" } },
    /: token: .*"JWT_POLICY" is "none"/,
  ],
  [
    "the token has expired",
    throws(unauthenticated),
    { files: { [TOKEN_FILE]: tokenWith({ exp: START / 1000 - 1 }) } },
    /: token: .*failure; the token in "\.\/token" expired at 2027-01-15T07:59:59Z, or the clock of this machine is ahead$/,
  ],
  [
    "the token is of the future",
    throws(unauthenticated),
    { files: { [TOKEN_FILE]: tokenWith({ iat: START / 1000 + 7200 }) } },
    /^No certificate: clock: The token in "\.\/token" is valid only from 2027-01-15T10:00:00Z on: the clock of this/,
  ],
  [
    "the token is for others",
    throws(unauthenticated),
    { files: { [TOKEN_FILE]: tokenWith({ aud: "vault" }) } },
    /: token: .*is for "vault", not for "istio-ca"$/,
  ],
  ["the token is refused", throws(unauthenticated), {}, /: token: .*must be from a cluster that .* \("west"\)$/],
  [
    "what is no token is refused",
    throws(unauthenticated),
    { files: { [TOKEN_FILE]: "x" } },
    /: token: The server refused/,
  ],
  [
    "the server repeats the token",
    throws(refusal(CODE.Unauthenticated, `bad token ${TOKEN}`)),
    {},
    /: token: .*bad token \.\.\.; the token in/,
  ],
  ["a port without a CA", throws(refusal(CODE.Unimplemented, "unknown service")), {}, /: CA: .*not on 15010$/],
  [
    "a request that is refused",
    throws(refusal(CODE.InvalidArgument, "bad CSR")),
    {},
    /: CA: The server refused the call: bad CSR$/,
  ],
  [
    "an answer that is not gRPC",
    throws(new GrpcError(CODE.Internal, "protocol", "The answer cannot be read")),
    {},
    /: CA: The answer cannot be read; check that this/,
  ],
  ["a defect", throws(new Error("out of luck")), {}, /^No certificate: CA: out of luck$/],
  ["no answer", () => new Promise(() => {}), {}, /^No certificate yet: waiting for "istiod\.istio-system\.svc:15012"$/],
  [
    "bytes that are no message",
    () => Promise.resolve(Uint8Array.of(10, 200)),
    {},
    /: CA: The CA's answer cannot be decoded: /,
  ],
  ["an empty answer", () => Promise.resolve([]), {}, /: it contains no certificate, but/],
  [
    "a chain of one",
    ({ csr }) => Promise.resolve([leafOf(csr, OTHER)]),
    {},
    /: it contains only one certificate, but/,
  ],
  [
    "a certificate of another key",
    ({ csr }) => Promise.resolve([OTHER.root, leafOf(csr, OTHER)]),
    {},
    /: the first certificate does not match the key/,
  ],
  [
    "no PEM",
    ({ csr }) => Promise.resolve([leafOf(csr, OTHER), "root"]),
    {},
    /: entry 2 is not a PEM certificate$/,
  ],
  [
    "no certificate in the PEM",
    ({ csr }) => Promise.resolve([leafOf(csr, OTHER), encodePem("CERTIFICATE", Uint8Array.of(1))]),
    {},
    /: entry 2 cannot be read: x509/,
  ],
  [
    "a certificate that ends before it begins",
    ({ csr }) => Promise.resolve([leafOf(csr, OTHER, { notBefore: START + 2 * LIFETIME }), OTHER.root]),
    {},
    /: the certificate expires at 2027-01-15T08:01:00Z, before its validity begins$/,
  ],
  [
    "a certificate that has ended",
    undefined,
    { lifetime: -LIFETIME },
    /: clock: The CA's new certificate expired about 1m0s ago, according to the clock of this machine; set the clock/,
  ],
  [
    "no roots",
    undefined,
    { authority: { rootsFile: "./absent" } },
    /: TLS: No root certificate to trust: .*"\.\/absent".*; mount the Conf/,
  ],
  [
    "roots that are none",
    undefined,
    { files: { [ROOTS]: "hello" } },
    /: TLS: No root certificate .*"\.\/root-cert\.pem" does not contain a PEM certificate; /,
  ],
  [
    "a name that no certificate can have",
    undefined,
    { spiffeId: "spiffe://bücher" },
    /: CA: The name "spiffe:\/\/bücher" has characters/,
  ],
  [
    "a certificate to come with that is none",
    undefined,
    { authority: { clientFolder: "./prov" }, files: { "./prov/cert-chain.pem": "x", "./prov/key.pem": "y" } },
    /: TLS: \.\/prov\/cert-chain\.pem: No certificate in PEM/,
  ],
];

const OTHER = new FakeAuthority(() => []);

for (const [name, answer, given, expected] of FAILURES) {
  Deno.test(`the problem of a failed request: ${name}`, async () => {
    await using test = await startedIdentity({ ...given, answer });
    const { identity, clock, world } = test;
    const problem = identity.problem() ?? "";
    assert.match(problem, expected);
    assert.deepEqual([identity.workload(), identity.roots(), clock.waiting.count], [undefined, undefined, 1]);
    const reported = problem.replace("No certificate: ", "");
    assert.equal(
      world.said.stderr.split("\n").filter((line) => line.endsWith(reported)).length,
      name === "no answer" ? 0 : 1,
    );
    assert(!world.said.stderr.includes(TOKEN));
    await clock.pass(60_000);
    assert.equal(world.said.stderr.split("\n").length, 2, `reported again: ${world.said.stderr}`);
  });
}
