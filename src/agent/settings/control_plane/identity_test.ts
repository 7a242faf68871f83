import assert from "node:assert/strict";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { readIdentity } from "./identity.ts";
import { Variables } from "../variables.ts";

const ISTIOD = "istiod.istio-system.svc:15012";

function read(env: Record<string, string> = {}, discoveryAddress = ISTIOD) {
  const world = fakeWorld({ env: { POD_NAMESPACE: "shop", SERVICE_ACCOUNT: "web", ...env } });
  const [warnings, problems]: [string[], string[]] = [[], []];
  const variables = new Variables(world.env, warnings);
  const reading = { world, given: new Map(), variables, usage: [], problems, warnings };
  return { ...readIdentity(reading, discoveryAddress), warnings, problems };
}

Deno.test("readIdentity: an Istio pod without settings uses istiod", () => {
  const { warnings, problems, mounted, ...identity } = read();
  assert.deepEqual([warnings, problems], [[], []]);
  assert.deepEqual(mounted.map(({ certificate }) => certificate), [
    "./var/run/secrets/workload-spiffe-credentials/cert-chain.pem",
    "./var/run/secrets/workload-spiffe-credentials/certificates.pem",
    "./etc/certs/cert-chain.pem",
  ]);
  assert.deepEqual(identity, {
    spiffeId: "spiffe://cluster.local/ns/shop/sa/web",
    isMountedOnly: false,
    authority: {
      address: ISTIOD,
      isPlain: false,
      serverName: "istiod.istio-system.svc",
      rootsFile: "./var/run/secrets/istio/root-cert.pem",
      clientFolder: "",
      tokenFile: "./var/run/secrets/tokens/istio-token",
      headers: {},
      certSigner: "",
      ttlSeconds: 86400,
    },
    key: { type: "ecdsa", curve: "P256" },
    isPkcs8: false,
    renewal: { ratio: 0.5, jitter: 0.01 },
    outputFolder: "",
  });
});

/** Which roots are trusted, first that applies: CA_ROOT_CA, PILOT_CERT_PROVIDER, PROV_CERT, the mounted ones. */
const ROOTS: readonly (readonly [Record<string, string>, string | undefined])[] = [
  [{ CA_ROOT_CA: "SYSTEM", PROV_CERT: "/prov" }, undefined],
  [{ CA_ROOT_CA: "/ca.pem", PROV_CERT: "/prov", PILOT_CERT_PROVIDER: "custom" }, "/ca.pem"],
  [{ PROV_CERT: "/prov", PILOT_CERT_PROVIDER: "custom" }, "./etc/certs/root-cert.pem"],
  [{ PROV_CERT: "/prov" }, "/prov/root-cert.pem"],
  [{ PILOT_CERT_PROVIDER: "kubernetes" }, "./var/run/secrets/kubernetes.io/serviceaccount/ca.crt"],
  [{ PILOT_CERT_PROVIDER: "k8s.io/signer" }, "./var/run/secrets/istio/root-cert.pem"],
];

Deno.test("readIdentity: the root file of the CA", () => {
  for (const [env, file] of ROOTS) assert.equal(read(env).authority.rootsFile, file, JSON.stringify(env));
});

/** Whom the CA must prove to be: CA_ADDR, discovery address, ISTIOD_SAN. */
const NAMES: readonly (readonly [string, string, string, string])[] = [
  ["", ISTIOD, "istiod.other.svc", "istiod.other.svc"],
  [ISTIOD, ISTIOD, "istiod.other.svc", "istiod.other.svc"],
  ["ca.example:443", ISTIOD, "istiod.other.svc", "ca.example"],
  ["", "localhost:15012", "", "istiod.istio-system.svc"],
  ["", "[fd00::1]:15012", "", "fd00::1"],
];

Deno.test("readIdentity: the name in the CA's certificate", () => {
  for (const [caAddress, discovery, san, name] of NAMES) {
    const { authority } = read({ CA_ADDR: caAddress, ISTIOD_SAN: san }, discovery);
    assert.equal(authority.serverName, name, `${caAddress} ${discovery} ${san}`);
  }
});

/** Keys by ECC_SIGNATURE_ALGORITHM, ECC_CURVE, WORKLOAD_RSA_KEY_SIZE, and how many warnings there are. */
const KEYS: readonly (readonly [string, string, string, string, number])[] = [
  ["", "", "", "P256", 0],
  ["ECDSA", "", "", "P256", 0],
  ["ECDSA", "P384", "4096", "P384", 0],
  ["ECDSA", "P521", "", "P256", 1],
  ["Ed25519", "", "", "P256", 1],
  ["RSA", "", "", "2048", 0],
  ["", "", "4096", "4096", 0],
  ["", "", "1024", "2048", 1],
  ["RSA", "", "99999", "2048", 1],
];

Deno.test("readIdentity: the key type", () => {
  for (const [algorithm, curve, size, expected, count] of KEYS) {
    const env = { ECC_SIGNATURE_ALGORITHM: algorithm, ECC_CURVE: curve, WORKLOAD_RSA_KEY_SIZE: size };
    const { key, warnings } = read(env);
    assert.equal(key.type === "rsa" ? String(key.bits) : key.curve, expected, JSON.stringify(env));
    assert.equal(warnings.length, count, warnings.join());
  }
});

Deno.test("readIdentity: CA headers have the cluster and CA_HEADER_ variables, in lower case", () => {
  const env = {
    ISTIO_META_CLUSTER_ID: "west",
    CA_HEADER_X_Tenant: "a",
    CA_HEADER_: "b",
    XDS_HEADER_C: "d",
    CA_HEADER_E: "f\n",
  };
  const { authority, warnings } = read(env);
  assert.deepEqual(authority.headers, { clusterid: "west", x_tenant: "a", e: "f" });
  assert.deepEqual(warnings, ['"CA_HEADER_" is ignored: "" is not a valid header name']);
});

Deno.test("readIdentity: files that the agent writes are not a source", () => {
  for (const folder of ["./etc/certs", "etc/certs/", "/etc/certs"]) {
    assert.equal(read({ OUTPUT_CERTS: folder }).mounted.length, 2, folder);
  }
  assert.equal(read({ OUTPUT_CERTS: "/elsewhere" }).mounted.length, 3);
});

Deno.test("readIdentity: mounted files only with FILE_MOUNTED_CERTS and for GKE", () => {
  assert(read({ FILE_MOUNTED_CERTS: "true" }).isMountedOnly);
  const named = { CERT_CHAIN: "/tls/c", KEY: "/tls/k", ROOT_CERT: "/tls/r" };
  const env = Object.fromEntries(Object.entries(named).map(([what, path]) => [`ISTIO_META_TLS_CLIENT_${what}`, path]));
  const [first] = read({ ...env, FILE_MOUNTED_CERTS: "true", ISTIO_META_TLS_SERVER_KEY: "/s" }).mounted;
  assert.deepEqual(first, { certificate: "/tls/c", key: "/tls/k", roots: "/tls/r" });
  assert.equal(read(env).mounted.length, 3);
  const { isMountedOnly, mounted } = read({ CA_PROVIDER: "GkeWorkloadCertificate" });
  assert.deepEqual([isMountedOnly, mounted.map(({ key }) => key)], [
    true,
    ["./var/run/secrets/workload-spiffe-credentials/private_key.pem"],
  ]);
});

Deno.test("readIdentity: tokens by JWT_POLICY; unknown values are warnings, an invalid address is a problem", () => {
  assert.equal(read({ JWT_POLICY: "none" }).authority.tokenFile, "");
  assert.match(read({ JWT_POLICY: "first-party-jwt" }).authority.tokenFile, /serviceaccount\/token$/);
  const strange = read({ JWT_POLICY: "x", CA_PROVIDER: "y", CREDENTIAL_FETCHER_TYPE: "z", CA_ADDR: "istiod" });
  assert.deepEqual([strange.warnings.length, strange.problems.length], [3, 1]);
  assert.match(strange.problems[0] ?? "", /^"CA_ADDR" is not a valid address/);
  assert.equal(read({ CA_ADDR: "istiod:15010" }).authority.isPlain, true);
});
