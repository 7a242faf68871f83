/**
 * What TLS clients trust. Deno adds a default store to the roots of each client, which `DENO_TLS_CA_STORE` and
 * `DENO_CERT` choose: a client would trust servers that none of its given roots has signed. Every client of the program
 * is made through this file, which empties that store (docs/security.md).
 */
import { MeshError, messageOf } from "../../../base/errors.ts";

/** A list without any store: not empty, because the default is used for an empty one (Deno 2.6 to 2.9). */
const NO_STORE = ",";

let isEmpty = false;

/** Empties the runtime's default store of roots, which it reads once, when the first client is made. */
export function emptyDefaultStore(): void {
  if (isEmpty) return;
  withVariables({ DENO_TLS_CA_STORE: NO_STORE, DENO_CERT: undefined }, () => Deno.createHttpClient({}).close());
  isEmpty = true;
}

/** Deno's client, which trusts `caCerts` and nothing else. */
export function newClient(options: Deno.CreateHttpClientOptions): Deno.HttpClient {
  emptyDefaultStore();
  return Deno.createHttpClient(options);
}

/** Sets or deletes environment variables during an action. Programs that start later get the old values. */
export function withVariables<T>(values: Readonly<Record<string, string | undefined>>, action: () => T): T {
  const before = Object.keys(values).map((name) => [name, Deno.env.get(name)] as const);
  for (const [name, value] of Object.entries(values)) set(name, value);
  try {
    return action();
  } finally {
    for (const [name, value] of before) set(name, value);
  }
}

function set(name: string, value: string | undefined): void {
  if (value === undefined) Deno.env.delete(name);
  else Deno.env.set(name, value);
}

/** Where Go looks for the roots of the system (crypto/x509/root_linux.go); macOS has the last one. */
const ROOTS_FILES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * The roots of the system, PEM. `SSL_CERT_FILE` replaces them. A system without any has Mozilla's, which are in the runtime.
 * Throws a MeshError if `SSL_CERT_FILE` cannot be read.
 */
export function systemRoots(): string {
  const given = Deno.env.get("SSL_CERT_FILE") ?? "";
  if (given !== "") return rootsIn(given);
  for (const file of ROOTS_FILES) {
    try {
      return Deno.readTextFileSync(file);
    } catch {
      // Another system has it elsewhere.
    }
  }
  const { rootCertificates } = globalThis.process.getBuiltinModule("node:tls");
  return rootCertificates.join("\n");
}

function rootsIn(file: string): string {
  try {
    return Deno.readTextFileSync(file);
  } catch (error) {
    throw new MeshError(`Cannot read the trusted authorities in "${file}": ${messageOf(error)}`, {
      cause: error,
      hint: "SSL_CERT_FILE names it: name a file of certificates in PEM, or unset it to trust the system's authorities",
    });
  }
}
