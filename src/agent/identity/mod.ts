/**
 * The workload's identity: certificate with SPIFFE ID, key and root certificates, in memory. In: files of another
 * program, or a CA that signs a CSR (istiod). Out: the certificate in force, notifications of changes, and the current
 * problem in one line. Keys and tokens are never logged.
 */
import type { World } from "../../core/world/world.ts";
import { keepByAuthority } from "./from_ca.ts";
import { type KeyMaterial, newMaterial, type Part } from "./store.ts";
import { findMounted, keepByFiles } from "./from_files.ts";
import type { IdentityOptions } from "./options.ts";

export { readToken } from "./token.ts";
export type { KeyMaterial };
export type { IdentityOptions, IdentitySettings } from "./options.ts";

/** A running identity. */
export interface Identity {
  /** The certificate in force; `undefined` before the first. It may be expired: see `problem`. */
  workload(): KeyMaterial | undefined;
  /** Root certificates for peers, PEM. */
  roots(): string | undefined;
  /** Calls back on each change, until the returned function is called. */
  subscribe(changed: (what: Part) => void): () => void;
  /** The failed stage, the reason and what to do, in one line; `undefined` if all is well. */
  problem(): string | undefined;
  /** Stops timers, watches and requests. */
  close(): Promise<void>;
}

/**
 * Starts to maintain the identity: from files if they exist, else from the CA, with retries. Resolves at once, without
 * the first certificate. Problems are never errors here.
 */
export async function startIdentity(world: World, options: IdentityOptions): Promise<Identity> {
  const { workload, roots, subscribe, ...material } = newMaterial();
  const whole = { workload, roots, subscribe, ...material };
  const place = options.isMountedOnly ? undefined : await findMounted(world.files, options.mounted);
  if (place === undefined && !options.isMountedOnly) {
    return { workload, roots, subscribe, ...keepByAuthority(world, options, whole) };
  }
  const mounted = place === undefined ? options.mounted : [place];
  return { workload, roots, subscribe, ...await keepByFiles(world, { ...options, mounted }, whole) };
}
