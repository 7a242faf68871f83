/** Stores the certificate, key and roots in force. */
import type { KeyPair } from "../../golang/x509/mod.ts";

type Part = "workload" | "roots";

export interface Maintenance {
  /** Returns the failed stage, the reason and advice, in one line; `undefined` if there is no problem. */
  problem(): string | undefined;
  close(): Promise<void>;
}

export type CertificateStore = ReturnType<typeof certificateStore>;

/** Creates an empty store. */
export function certificateStore() {
  const subscribers = new Set<(what: Part) => void>();
  let workload: KeyPair | undefined;
  let roots: string | undefined;
  const notify = (what: Part) => [...subscribers].forEach((changed) => changed(what));
  return {
    workload: () => workload,
    /** Root certificates that peers' certificates chain to, in PEM. */
    roots: () => roots,
    /** Calls `changed` on each change, until the returned function is called. */
    subscribe(changed: (what: Part) => void): () => void {
      subscribers.add(changed);
      return () => subscribers.delete(changed);
    },
    /**
     * Stores values, and notifies subscribers only of changes. Changed roots come first, because peers must trust a
     * root before they see its certificates.
     */
    put(newWorkload: KeyPair | undefined = workload, newRoots: string | undefined = roots): void {
      const isNewRoots = newRoots !== roots;
      const isNewWorkload = newWorkload?.certificate !== workload?.certificate || newWorkload?.key !== workload?.key;
      [workload, roots] = [newWorkload, newRoots];
      if (isNewRoots) notify("roots");
      if (isNewWorkload) notify("workload");
    },
  };
}
