/**
 * Reads the settings of the workload's certificate: identity and CA. Source: pilot-agent's security options and root
 * selection.
 */
import { trimmedEnd } from "../../../base/text/mod.ts";
import { hostPortProblem, splitHostPort } from "../../../golang/net/mod.ts";
import type { AuthorityOptions, IdentitySettings, KeyChoice, MountedPaths } from "../../identity/options.ts";
import type { Reading } from "../reading.ts";

const CERTS_FOLDER = "./etc/certs";
const CREDENTIALS_FOLDER = "./var/run/secrets/workload-spiffe-credentials";
const CERTS: MountedPaths = pathsIn(CERTS_FOLDER, "cert-chain.pem", "key.pem", "root-cert.pem");
const CREDENTIALS: MountedPaths = pathsIn(CREDENTIALS_FOLDER, "cert-chain.pem", "key.pem", "root-cert.pem");
const GKE: MountedPaths = pathsIn(CREDENTIALS_FOLDER, "certificates.pem", "private_key.pem", "ca_certificates.pem");

function pathsIn(folder: string, certificate: string, key: string, roots: string): MountedPaths {
  return { certificate: `${folder}/${certificate}`, key: `${folder}/${key}`, roots: `${folder}/${roots}` };
}

/** Reads the identity settings. `discoveryAddress` is the effective discovery address. */
export function readIdentity(reading: Reading, discoveryAddress: string): IdentitySettings {
  const { variables } = reading;
  const [domain, namespace] = [variables.text("trustDomain"), variables.text("podNamespace")];
  return {
    spiffeId: `spiffe://${domain}/ns/${namespace}/sa/${variables.text("serviceAccount")}`,
    ...readMounted(reading),
    authority: readAuthority(reading, discoveryAddress),
    key: readKey(reading),
    isPkcs8: variables.bool("pkcs8Key"),
    renewal: { ratio: variables.number("gracePeriodRatio"), jitter: variables.number("gracePeriodJitter") },
    outputFolder: variables.text("outputCerts"),
  };
}

const GKE_PROVIDER = "GkeWorkloadCertificate";

/** Reads the mounted files. Files that the agent writes itself (`OUTPUT_CERTS`) are not a source. */
function readMounted(reading: Reading): Pick<IdentitySettings, "mounted" | "isMountedOnly"> {
  const { variables, warnings } = reading;
  const provider = variables.text("caProvider");
  if (provider === GKE_PROVIDER) return { mounted: [GKE], isMountedOnly: true };
  if (provider !== "Citadel") {
    warnings.push(`"CA_PROVIDER" is "${provider}", which is unknown: using "Citadel" instead`);
  }
  const isMountedOnly = variables.bool("fileMountedCerts");
  const isWritten = sameFolder(variables.text("outputCerts"), CERTS_FOLDER);
  const named = isMountedOnly ? namedPaths(reading) : [];
  return { mounted: [...named, CREDENTIALS, GKE, ...isWritten ? [] : [CERTS]], isMountedOnly };
}

/** Returns the files named by the node metadata: first the client's files, then the server's. */
function namedPaths({ world: { env } }: Reading): MountedPaths[] {
  return ["CLIENT", "SERVER"].flatMap((side) => {
    const path = (what: string) => env.get(`ISTIO_META_TLS_${side}_${what}`) ?? "";
    const paths = { certificate: path("CERT_CHAIN"), key: path("KEY"), roots: path("ROOT_CERT") };
    return Object.values(paths).includes("") ? [] : [paths];
  });
}

/**
 * Whether two paths are the same folder. Relative paths start in the working directory, which is `/` in Istio's images.
 */
function sameFolder(a: string, b: string): boolean {
  const plain = (path: string) => trimmedEnd(path.replace(/^\.?\/+/, ""), "/");
  return plain(a) === plain(b);
}

function readAuthority(reading: Reading, discoveryAddress: string): AuthorityOptions {
  const { variables, problems } = reading;
  const address = variables.text("caAddress") || discoveryAddress;
  const problem = variables.isGiven("caAddress") ? hostPortProblem(address) : undefined;
  if (problem !== undefined) problems.push(`"CA_ADDR" is not a valid address: ${problem}`);
  return {
    address,
    isPlain: address.endsWith(":15010"),
    serverName: serverName(address, address === discoveryAddress ? variables.text("istiodSan") : ""),
    rootsFile: rootsFile(reading),
    clientFolder: variables.text("provCert"),
    tokenFile: tokenFile(reading),
    headers: headersOf(reading),
    certSigner: variables.text("certSigner"),
    ttlSeconds: Math.floor(variables.milliseconds("secretTtl") / 1000),
  };
}

/**
 * Returns the name that the server's certificate must contain. `ISTIOD_SAN` applies to istiod only, not to another CA.
 * `localhost` means a port that is forwarded to istiod.
 */
export function serverName(address: string, istiodSan: string): string {
  if (istiodSan !== "") return istiodSan;
  if (address.includes("localhost")) return "istiod.istio-system.svc";
  const parts = splitHostPort(address);
  return typeof parts === "string" ? address : parts.host;
}

const KUBERNETES = "./var/run/secrets/kubernetes.io/serviceaccount";

const ROOTS_BY_PROVIDER: ReadonlyMap<string, string> = new Map([
  ["custom", `${CERTS_FOLDER}/root-cert.pem`],
  ["kubernetes", `${KUBERNETES}/ca.crt`],
]);

/**
 * Returns `CA_ROOT_CA`, or else the provider's file, or else the file in the folder `PROV_CERT`, or else the file from
 * the mounted ConfigMap. `undefined` means the system's roots.
 */
function rootsFile({ variables }: Reading): string | undefined {
  const chosen = variables.text("caRootCa");
  if (chosen === "SYSTEM") return undefined;
  const folder = variables.text("provCert");
  return chosen || ROOTS_BY_PROVIDER.get(variables.text("pilotCertProvider")) ||
    (folder === "" ? "./var/run/secrets/istio/root-cert.pem" : `${folder}/root-cert.pem`);
}

const TOKENS: ReadonlyMap<string, string> = new Map([
  ["third-party-jwt", "./var/run/secrets/tokens/istio-token"],
  ["first-party-jwt", `${KUBERNETES}/token`],
  ["none", ""],
]);

function tokenFile({ variables, warnings }: Reading): string {
  const policy = variables.text("jwtPolicy");
  const fetcher = variables.text("credentialFetcher");
  if (fetcher !== "JWT") {
    warnings.push(`"CREDENTIAL_FETCHER_TYPE" is "${fetcher}", which is unknown: using "JWT" instead`);
  }
  const file = TOKENS.get(policy);
  if (file !== undefined) return file;
  warnings.push(`"JWT_POLICY" is "${policy}", which is unknown: using "third-party-jwt" instead`);
  return TOKENS.get("third-party-jwt") ?? "";
}

const HEADER = "CA_HEADER_";

function headersOf({ world, variables, warnings }: Reading): Record<string, string> {
  const cluster = variables.text("clusterId");
  const headers: Record<string, string> = cluster === "" ? {} : { clusterid: cluster };
  for (const [variable, value] of Object.entries(world.env.all()).filter(([name]) => name.startsWith(HEADER))) {
    const name = variable.slice(HEADER.length).toLowerCase();
    if (/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) headers[name] = value.replaceAll(/[^\x20-\x7e]/g, "").trim();
    else warnings.push(`"${variable}" is ignored: "${name}" is not a valid header name`);
  }
  return headers;
}

const MIN_RSA_BITS = 2048;

/**
 * Reads the type of key. The default is ECDSA on P-256. pilot-agent's default is RSA, but generating an RSA key takes
 * 0.1 s to several seconds. istiod signs both types. `WORKLOAD_RSA_KEY_SIZE` alone selects RSA.
 */
function readKey({ variables, warnings }: Reading): KeyChoice {
  const algorithm = variables.text("eccAlgorithm");
  if (algorithm === "RSA" || (algorithm === "" && variables.isGiven("rsaKeySize"))) {
    return { type: "rsa", bits: rsaBits() };
  }
  if (algorithm !== "" && algorithm !== "ECDSA") {
    warnings.push(`"ECC_SIGNATURE_ALGORITHM" is "${algorithm}", which is unknown: using "ECDSA" instead`);
  }
  const curve = variables.text("eccCurve");
  if (curve === "P256" || curve === "P384") return { type: "ecdsa", curve };
  warnings.push(`"ECC_CURVE" is "${curve}", which is neither "P256" nor "P384": using "P256" instead`);
  return { type: "ecdsa", curve: "P256" };

  function rsaBits(): number {
    const bits = variables.number("rsaKeySize");
    if (bits >= MIN_RSA_BITS && bits <= 8192) return bits;
    warnings.push(`"WORKLOAD_RSA_KEY_SIZE" is ${bits}, which is not from 2048 to 8192: 2048 is used`);
    return MIN_RSA_BITS;
  }
}
