/**
 * Who the workload is: a certificate with its SPIFFE identity, its key and the roots of its peers, in memory. In: files
 * that another program keeps, or an authority that signs a request (istiod). Out: what is in force, who is told of changes,
 * and in one line what is wrong. Keys and tokens are in no log.
 */
import type { World } from "../../core/world/world.ts";
import { keepByAuthority } from "./from_ca.ts";
import { type KeyMaterial, newMaterial, type Part } from "./store.ts";
import { findMounted, keepByFiles } from "./from_files.ts";
import type { IdentityOptions } from "./options.ts";

export { readToken } from "./token.ts";
export type { KeyMaterial };
export type { IdentityOptions, IdentitySettings } from "./options.ts";

/** The identity of the workload while the agent runs. */
export interface Identity {
  /** The certificate in force; `undefined` before the first. It may have expired: `problem` says so. */
  workload(): KeyMaterial | undefined;
  /** Certificates that peers' must be signed by, PEM. */
  roots(): string | undefined;
  /** Is told of each change; the returned function ends that. */
  subscribe(changed: (what: Part) => void): () => void;
  /** One line: the stage that fails, why, and what to do; `undefined` when all is well. */
  problem(): string | undefined;
  /** Ends timers, watches and calls. */
  close(): Promise<void>;
}

/**
 * Starts to get and keep the identity. Files count where there are any; else the authority is asked, again and again until
 * it signs. Resolves at once: the first certificate is not waited for, and nothing that is wrong is an error.
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
