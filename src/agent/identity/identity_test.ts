/** The whole identity, with an authority and a clock of the test. */
import assert from "node:assert/strict";
import { testCertificate } from "../../../test/support/certificates.ts";
import { FakeAuthority, type Signing } from "../../../test/support/fake_authority.ts";
import { ManualClock, settled } from "../../../test/support/manual_clock.ts";
import { CODE, GrpcError } from "../../core/grpc/mod.ts";
import { startLog } from "../../core/log.ts";
import { decodePem, decodePems, encodePem, readFacts, readPrivateKey, sameBytes } from "../../core/x509/mod.ts";
import { fakeWorld } from "../../core/world/fake.ts";
import { type IdentitySettings, startIdentity } from "./mod.ts";
import type { AuthorityOptions } from "./options.ts";

const START = Date.parse("2027-01-15T08:00:00Z");
const HOUR = 3_600_000;
const ADDRESS = "istiod.istio-system.svc:15012";
const TOKEN_FILE = "./token";
const ROOTS = "./root-cert.pem";

const AUTHORITY: AuthorityOptions = {
  address: ADDRESS,
  isPlain: false,
  serverName: "istiod.istio-system.svc",
  rootsFile: ROOTS,
  clientFolder: "",
  tokenFile: TOKEN_FILE,
  headers: { clusterid: "west", "x-tenant": "a" },
  certSigner: "",
  ttlSeconds: 86_400,
};

const SETTINGS: IdentitySettings = {
  spiffeId: "spiffe://cluster.local/ns/shop/sa/web",
  mounted: [],
  isMountedOnly: false,
  authority: AUTHORITY,
  key: { type: "ecdsa", curve: "P256" },
  isPkcs8: false,
  renewal: { ratio: 0.5, jitter: 0 },
  outputFolder: "",
};

interface Given extends Partial<Omit<IdentitySettings, "authority">> {
  readonly authority?: Partial<AuthorityOptions>;
  readonly files?: Record<string, string>;
  readonly lifetime?: number;
  /** In place of a certificate. */
  readonly answer?: FakeAuthority["answer"] | undefined;
}

/** A token with these claims; its signature is not looked at here. */
function tokenWith(claims: Record<string, unknown>): string {
  const part = (value: unknown) =>
    btoa(JSON.stringify(value)).replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_");
  return `${part({ alg: "RS256" })}.${part(claims)}.c2lnbmF0dXJl`;
}

const TOKEN = tokenWith({ aud: ["istio-ca"], iat: START / 1000 - 60, exp: START / 1000 + 3600 });
const ANY_ROOT = new FakeAuthority(() => []).root;

async function start({ authority = {}, files = {}, lifetime = 24 * HOUR, answer, ...settings }: Given = {}) {
  const clock = new ManualClock(START);
  const ca = new FakeAuthority(({ csr }, own) => [own.sign(csr, valid(clock, lifetime)), own.root]);
  ca.answer = answer ?? ca.answer;
  const world = { ...fakeWorld({ files: { [TOKEN_FILE]: `${TOKEN}\n`, [ROOTS]: ANY_ROOT, ...files } }), clock };
  const log = startLog(world, "agent").getChild("sds");
  const options = { ...SETTINGS, ...settings, authority: { ...AUTHORITY, ...authority }, log, open: ca.channel };
  const identity = await startIdentity(world, options);
  const changes: string[] = [];
  identity.subscribe((what) => changes.push(what));
  await settled();
  const lines = () => world.said.stderr.trimEnd().split("\n").map((line) => line.replace(/^\S+ /, ""));
  return {
    identity,
    ca,
    clock,
    world,
    changes,
    lines,
    async [Symbol.asyncDispose]() {
      await identity.close();
      assert.deepEqual([clock.waiting.count, ca.open], [0, 0], "something is left");
      const secrets = [TOKEN, "PRIVATE KEY", ...(identity.workload()?.key ?? "PRIVATE KEY").split("\n").slice(1, 2)];
      for (const secret of secrets) assert(!world.said.stderr.includes(secret), "a secret is in the log");
    },
  };
}

function valid(clock: ManualClock, lifetime: number): Signing {
  const now = clock.now().getTime();
  return { notBefore: now - 120_000 + Math.min(2 * lifetime, 0), notAfter: now + lifetime };
}

/** The public key of a PEM of a certificate and that of a private key. */
function isPair({ certificate, key }: { certificate: string; key: string }): boolean {
  return sameBytes(
    readFacts(decodePem(certificate)?.bytes ?? new Uint8Array()).publicKey,
    readPrivateKey(key).publicKey(),
  );
}

Deno.test("startIdentity() asks as istiod wants to be asked, and has a certificate with its key and the roots", async () => {
  await using test = await start();
  const { identity, ca, changes, clock } = test;
  const [call] = ca.calls;
  assert(call !== undefined);
  assert.deepEqual(call.endpoint, {
    address: ADDRESS,
    tls: { serverName: "istiod.istio-system.svc", authorities: ANY_ROOT, identity: undefined },
  });
  assert.equal(call.method, "/istio.v1.auth.IstioCertificateService/CreateCertificate");
  assert.deepEqual(call.headers, { clusterid: "west", "x-tenant": "a", authorization: `Bearer ${TOKEN}` });
  assert.deepEqual([call.validitySeconds, call.metadata], [86_400, undefined]);
  assert.match(call.csr, /^-----BEGIN CERTIFICATE REQUEST-----\n/);
  const workload = identity.workload();
  assert(workload !== undefined && isPair(workload));
  assert.equal(decodePems(workload.certificate).length, 2);
  assert.equal(identity.roots(), ca.root);
  assert.equal(identity.problem(), undefined);
  assert.deepEqual(changes, ["roots", "workload"]);
  assert.deepEqual(test.lines(), [
    "info agent·sds: The certificate of spiffe://cluster.local/ns/shop/sa/web is in force, until " +
    "2027-01-16T08:00:00Z (24h0m0s)",
  ]);
  assert.equal(clock.waiting.count, 1);
});

Deno.test("a certificate is renewed at half of its time with a new key; roots are told only if they differ", async () => {
  await using test = await start();
  const { identity, clock, changes, ca } = test;
  const first = identity.workload();
  await clock.pass(12 * HOUR - 1);
  assert.equal(ca.calls.length, 1);
  await clock.pass(1);
  assert.equal(ca.calls.length, 2);
  assert.notEqual(identity.workload()?.key, first?.key);
  assert.deepEqual(changes, ["roots", "workload", "workload"]);
  ca.replaceRoot();
  await clock.pass(12 * HOUR);
  assert.deepEqual(changes.slice(3), ["roots", "workload"]);
  assert.equal(identity.roots(), ca.root);
});

Deno.test("the token and the roots are read anew at each call", async () => {
  await using test = await start({ lifetime: 20_000 });
  const { ca, clock, world } = test;
  world.files.writeText(TOKEN_FILE, "second-token");
  world.files.writeText(ROOTS, ca.root);
  await clock.pass(10_000);
  assert.deepEqual([ca.calls[1]?.headers["authorization"], ca.calls[1]?.endpoint.tls?.authorities], [
    "Bearer second-token",
    ca.root,
  ]);
});

const refusal = (code: number, text: string) => new GrpcError(code, "status", `The server refused the call: ${text}`);
const unauthenticated = refusal(CODE.Unauthenticated, "request authenticate failure");
const leafOf = (csr: string, ca: FakeAuthority, changes: Partial<Signing> = {}) => {
  return ca.sign(csr, { notBefore: START - 120_000, notAfter: START + HOUR, ...changes });
};

/** What the authority does, what else is given, and the problem that is told. */
const FAILURES: readonly (readonly [string, FakeAuthority["answer"] | undefined, Given, RegExp])[] = [
  [
    "the name is not known",
    throws(new GrpcError(CODE.Unavailable, "name", `Cannot find the address of "istiod": not known`)),
    {},
    /^No certificate: name: Cannot find the address of "istiod": not known; is the control plane installed/,
  ],
  [
    "the connection is refused",
    throws(new GrpcError(CODE.Unavailable, "connection", "Cannot connect: connection refused")),
    {},
    /^No certificate: connection: Cannot connect: connection refused; does the control plane run/,
  ],
  [
    "its certificate has other names",
    throws(new GrpcError(CODE.Unavailable, "tls", `the server's certificate is not for "a", but for "b", "c"`)),
    {},
    /^No certificate: TLS: the server's certificate is not for "a", but for "b", "c"; "CA_ROOT_CA" is/,
  ],
  [
    "there is no token",
    throws(unauthenticated),
    { files: { [TOKEN_FILE]: "" } },
    /: token: .*; there is none in "\.\/token": mount/,
  ],
  ["no token is wanted", throws(unauthenticated), { authority: { tokenFile: "" } }, /: token: .*"JWT_POLICY" is none/],
  [
    "the token has expired",
    throws(unauthenticated),
    { files: { [TOKEN_FILE]: tokenWith({ exp: START / 1000 - 1 }) } },
    /: token: .*failure; that in "\.\/token" ended at 2027-01-15T07:59:59Z, or the clock of this machine is ahead$/,
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
  ["the token is refused", throws(unauthenticated), {}, /: token: .*must be of a cluster that .* told to be "west"$/],
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
    /: token: .*bad token \.\.\.; that in/,
  ],
  ["a port without a CA", throws(refusal(CODE.Unimplemented, "unknown service")), {}, /: CA: .*port 15010 has none$/],
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
    /: CA: The answer cannot be read; is this/,
  ],
  ["a defect", throws(new Error("out of luck")), {}, /^No certificate: CA: out of luck$/],
  ["no answer", () => new Promise(() => {}), {}, /^No certificate yet: "istiod\.istio-system\.svc:15012" is asked$/],
  [
    "bytes that are no message",
    () => Promise.resolve(Uint8Array.of(10, 200)),
    {},
    /: CA: The answer of the CA cannot be read: /,
  ],
  ["an empty answer", () => Promise.resolve([]), {}, /: it answered without a certificate, where/],
  [
    "a chain of one",
    ({ csr }) => Promise.resolve([leafOf(csr, OTHER)]),
    {},
    /: it answered with one certificate, where/,
  ],
  [
    "a certificate of another key",
    ({ csr }) => Promise.resolve([OTHER.root, leafOf(csr, OTHER)]),
    {},
    /: the first certificate of its answer has another key/,
  ],
  [
    "no PEM",
    ({ csr }) => Promise.resolve([leafOf(csr, OTHER), "root"]),
    {},
    /: entry 2 of its answer is no certificate in PEM$/,
  ],
  [
    "no certificate in the PEM",
    ({ csr }) => Promise.resolve([leafOf(csr, OTHER), encodePem("CERTIFICATE", Uint8Array.of(1))]),
    {},
    /: entry 2 of its answer cannot be read: x509/,
  ],
  [
    "a certificate that ends before it begins",
    ({ csr }) => Promise.resolve([leafOf(csr, OTHER, { notBefore: START + 2 * HOUR }), OTHER.root]),
    {},
    /: its certificate ends at 2027-01-15T09:00:00Z, before it begins$/,
  ],
  [
    "a certificate that has ended",
    undefined,
    { lifetime: -HOUR },
    /: clock: The CA's new certificate ended about 1h0m0s ago already, by the clock of this machine; set the clock/,
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
    /: TLS: No root certificate .*"\.\/root-cert\.pem" has none in PEM; /,
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
    /: TLS: \.\/prov\/cert-chain\.pem: There is no certificate in PEM/,
  ],
];

const OTHER = new FakeAuthority(() => []);

function throws(error: Error): FakeAuthority["answer"] {
  return () => Promise.reject(error);
}

for (const [name, answer, given, expected] of FAILURES) {
  Deno.test(`a certificate that cannot be had: ${name}`, async () => {
    await using test = await start({ ...given, answer });
    const { identity, clock, world } = test;
    const problem = identity.problem() ?? "";
    assert.match(problem, expected);
    assert.deepEqual([identity.workload(), identity.roots(), clock.waiting.count], [undefined, undefined, 1]);
    const told = problem.replace("No certificate: ", "");
    assert.equal(
      world.said.stderr.split("\n").filter((line) => line.endsWith(told)).length,
      name === "no answer" ? 0 : 1,
    );
    assert(!world.said.stderr.includes(TOKEN));
    await clock.pass(60_000);
    assert.equal(world.said.stderr.split("\n").length, 2, `told again: ${world.said.stderr}`);
  });
}

Deno.test("a CA that answers late is given up, and its late answer is none", async () => {
  await using test = await start();
  const { identity, ca, clock } = test;
  const first = identity.workload();
  const late = Promise.withResolvers<readonly string[]>();
  ca.answer = ({ signal }) => {
    signal.addEventListener("abort", () => late.resolve([]));
    return late.promise;
  };
  await clock.pass(12 * HOUR + 20_000);
  assert.match(
    identity.problem() ?? "",
    /^The certificate, which ends at .*, could not be renewed yet: connection: the CA has not/,
  );
  assert.equal(identity.workload(), first);
});

Deno.test("a renewal that fails is told, tried again, and mended without a word of the past", async () => {
  await using test = await start({ lifetime: 60_000 });
  const { identity, ca, clock, changes } = test;
  const answer = ca.answer;
  ca.answer = throws(unauthenticated);
  await clock.pass(45_000);
  assert.match(
    identity.problem() ?? "",
    /^The certificate, which ends at 2027-01-15T08:01:00Z, could not be renewed yet: token: /,
  );
  await clock.pass(15_000);
  assert.match(
    identity.problem() ?? "",
    /^The certificate ended at 2027-01-15T08:01:00Z and could not be renewed: token: /,
  );
  assert(identity.workload() !== undefined);
  ca.answer = answer;
  await clock.pass(60_000);
  assert.equal(identity.problem(), undefined);
  assert.equal(changes.filter((what) => what === "workload").length >= 2, true);
});

Deno.test("after a failure the connection is a new one, and the key of the request is the same", async () => {
  await using test = await start({ lifetime: 20_000 });
  const { ca, clock } = test;
  const answer = ca.answer;
  ca.answer = throws(new GrpcError(CODE.Unavailable, "connection", "refused"));
  await clock.pass(10_000);
  ca.answer = answer;
  await clock.pass(200);
  assert.equal(ca.calls.length, 3);
  assert.equal(ca.open, 0);
  const keyOf = (csr = "") => readRequestKey(csr);
  assert.equal(keyOf(ca.calls[1]?.csr), keyOf(ca.calls[2]?.csr));
  assert.notEqual(keyOf(ca.calls[0]?.csr), keyOf(ca.calls[1]?.csr));
});

/** The start of a request up to its signature, which differs each time. */
function readRequestKey(csr: string): string {
  return String(decodePem(csr)?.bytes.slice(0, 100));
}

Deno.test("a certificate that is not valid yet is used, and the clock is told", async () => {
  await using test = await start();
  const { identity, ca, clock, lines } = test;
  clock.set(-2 * HOUR);
  ca.answer = ({ csr }) =>
    Promise.resolve([ca.sign(csr, { notBefore: START + 24 * HOUR, notAfter: START + 48 * HOUR }), ca.root]);
  await clock.pass(12 * HOUR);
  assert.equal(
    identity.problem(),
    "clock: The certificate is valid only from 2027-01-16T08:00:00Z on: the clock of this machine is behind, set it",
  );
  assert(lines().some((line) => line.includes("warning agent·sds: clock: The certificate is valid only from")));
  await clock.pass(12 * HOUR - 1);
  assert.equal(ca.calls.length, 2);
  await clock.pass(1);
  assert.equal(ca.calls.length, 3);
});

Deno.test("another name than the one that was asked for is a warning", async () => {
  await using test = await start();
  const { ca, clock, lines } = test;
  ca.answer = ({ csr }) =>
    Promise.resolve([ca.sign(csr, { ...valid(clock, HOUR), uris: ["spiffe://td/ns/a/sa/b"] }), ca.root]);
  await clock.pass(12 * HOUR);
  assert(
    lines().includes(
      "warning agent·sds: The CA certified spiffe://td/ns/a/sa/b, where spiffe://cluster.local/ns/shop/sa/web was asked for",
    ),
  );
});

Deno.test("a plain address has no TLS; the system's roots are none of ours; a signer is asked for", async () => {
  await using plain = await start({ authority: { isPlain: true, rootsFile: "./absent", certSigner: "mesh" } });
  assert.equal(plain.ca.calls[0]?.endpoint.tls, undefined);
  assert.match(new TextDecoder().decode(plain.ca.calls[0]?.metadata), /CertSigner[^]*mesh$/);
  await using system = await start({ authority: { rootsFile: undefined } });
  assert.deepEqual([system.ca.calls[0]?.endpoint.tls?.authorities, system.identity.problem()], [undefined, undefined]);
});

Deno.test("PROV_CERT: a certificate that is there is shown, unless it has expired", async () => {
  for (const days of [1000n, -1n]) {
    const { certificate, key } = testCertificate(days);
    const files = { "./prov/cert-chain.pem": certificate, "./prov/key.pem": key };
    await using test = await start({ authority: { clientFolder: "./prov" }, files });
    assert.deepEqual(test.ca.calls[0]?.endpoint.tls?.identity, days < 0n ? undefined : { certificate, key });
  }
  await using absent = await start({ authority: { clientFolder: "./nothing" } });
  assert.deepEqual([absent.ca.calls[0]?.endpoint.tls?.identity, absent.identity.problem()], [undefined, undefined]);
});

Deno.test("keys are what is asked for: P-384, RSA, PKCS #8", async () => {
  await using p384 = await start({ key: { type: "ecdsa", curve: "P384" } });
  assert.match(p384.identity.workload()?.key ?? "", /^-----BEGIN EC PRIVATE KEY/);
  await using pkcs8 = await start({ isPkcs8: true });
  const workload = pkcs8.identity.workload();
  assert(workload?.key.startsWith("-----BEGIN PRIVATE KEY") && isPair(workload));
  await using rsa = await start({ key: { type: "rsa", bits: 2048 } });
  for (const end = Date.now() + 20_000; rsa.identity.workload() === undefined && Date.now() < end;) await settled();
  const made = rsa.identity.workload();
  assert(made?.key.startsWith("-----BEGIN RSA PRIVATE KEY") && isPair(made));
});

Deno.test("an end while the CA is asked ends the call, and nothing follows", async () => {
  const test = await start({ lifetime: 20_000 });
  const { identity, ca, clock } = test;
  let ended = false;
  ca.answer = ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        ended = true;
        reject(signal.reason);
      });
    });
  await clock.pass(10_000);
  await identity.close();
  assert.deepEqual([ended, clock.waiting.count, ca.open, identity.problem()], [true, 0, 0, undefined]);
});

Deno.test("whoever ended a subscription is told nothing more", async () => {
  await using test = await start();
  const heard: string[] = [];
  const end = test.identity.subscribe((what) => heard.push(what));
  end();
  await test.clock.pass(12 * HOUR);
  assert.deepEqual(heard, []);
});
