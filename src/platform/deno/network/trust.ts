/**
 * Trusted roots of TLS clients. Deno makes every client also trust the roots in a default store, which is selected by
 * `DENO_TLS_CA_STORE` and `DENO_CERT`. A client would then trust more authorities than the roots that it was given.
 * This file empties that store and creates every client of the program (docs/security.md).
 */
import { ROOT_FILES } from "../../root_files.ts";
import { MeshError, messageOf } from "../../../base/errors.ts";

/** Value of `DENO_TLS_CA_STORE` that selects no store. Deno 2.6 to 2.9 uses the default for an empty value. */
const NO_STORE = ",";

let isEmpty = false;

/** Empties the runtime's default store of roots. The runtime reads the store once, when it creates the first client. */
export function emptyDefaultStore(): void {
  if (isEmpty) return;
  withVariables({ DENO_TLS_CA_STORE: NO_STORE, DENO_CERT: undefined }, () => Deno.createHttpClient({}).close());
  isEmpty = true;
}

/** Creates a Deno client that trusts only `caCerts`. */
export function newClient(options: Deno.CreateHttpClientOptions): Deno.HttpClient {
  emptyDefaultStore();
  return Deno.createHttpClient(options);
}

/** Sets or deletes environment variables during an action, then restores the old values. */
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

/**
 * Returns the trusted roots of the system in PEM, or the content of the file in `SSL_CERT_FILE` if that variable is
 * set. On a system without roots, returns Mozilla's roots from the runtime. Throws a MeshError if the file in
 * `SSL_CERT_FILE` cannot be read.
 */
export function systemRoots(): string {
  const given = Deno.env.get("SSL_CERT_FILE") ?? "";
  if (given !== "") return rootsIn(given);
  for (const file of ROOT_FILES) {
    try {
      return Deno.readTextFileSync(file);
    } catch {
      // This system has no such file; try the next path.
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
      hint: "set SSL_CERT_FILE to a file of PEM certificates, or unset it to trust the system's authorities",
    });
  }
}
