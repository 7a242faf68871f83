/** Holds the certificate, key and roots in force, and notifies subscribers. */
import type { KeyPair } from "../../golang/x509/mod.ts";

type Part = "workload" | "roots";

export interface CertificateStore {
  /** Certificate chain and key; `undefined` before the first. */
  workload(): KeyPair | undefined;
  /** Root certificates of the peers, PEM. */
  roots(): string | undefined;
  /** Calls back on each change, until the returned function is called. */
  subscribe(changed: (what: Part) => void): () => void;
  /**
   * Replaces the values. Notifies about roots first, and only if they differ: peers must trust a root before
   * certificates of it appear.
   */
  put(workload: KeyPair | undefined, roots: string | undefined): void;
}

/** What keeps the store up to date. */
export interface Maintenance {
  /** The failed stage, the reason and what to do, in one line; `undefined` if all is well. */
  problem(): string | undefined;
  /** Stops timers, watches and requests. */
  close(): Promise<void>;
}

export function certificateStore(): CertificateStore {
  const subscribers = new Set<(what: Part) => void>();
  let workload: KeyPair | undefined;
  let roots: string | undefined;
  const notify = (what: Part) => [...subscribers].forEach((changed) => changed(what));
  return {
    workload: () => workload,
    roots: () => roots,
    subscribe(changed) {
      subscribers.add(changed);
      return () => subscribers.delete(changed);
    },
    put(newWorkload = workload, newRoots = roots) {
      const isNewRoots = newRoots !== roots;
      const isNewWorkload = newWorkload?.certificate !== workload?.certificate || newWorkload?.key !== workload?.key;
      [workload, roots] = [newWorkload, newRoots];
      if (isNewRoots) notify("roots");
      if (isNewWorkload) notify("workload");
    },
  };
}
