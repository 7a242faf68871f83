/**
 * The workload's identity in memory: certificate with SPIFFE ID, key and root certificates. They come from files that
 * another program maintains, or from a CA that signs a CSR (istiod). Keys and tokens are never logged.
 */
import type { World } from "../../platform/world.ts";
import { CaMaintenance } from "./from_ca.ts";
import { findMounted, maintainFromFiles } from "./from_files.ts";
import type { IdentityOptions } from "./options.ts";
import { type CertificateStore, certificateStore, type Maintenance } from "./store.ts";

/** A running identity. The certificate may be expired: see `problem`. */
export type Identity = Omit<CertificateStore, "put"> & Maintenance;

/**
 * Maintains the identity: from files if they exist, otherwise from the CA, with retries. Does not wait for the first
 * certificate.
 */
export async function startIdentity(world: World, options: IdentityOptions): Promise<Identity> {
  const store = certificateStore();
  const place = options.isMountedOnly ? undefined : await findMounted(world.files, options.mounted);
  const maintenance = place === undefined && !options.isMountedOnly
    ? new CaMaintenance(world, options, store)
    : await maintainFromFiles(world, { ...options, mounted: place === undefined ? options.mounted : [place] }, store);
  return { ...store, problem: () => maintenance.problem(), close: () => maintenance.close() };
}
