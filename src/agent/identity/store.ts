/** The certificate, key and roots in force. */
import type { KeyPair } from "../../golang/x509/mod.ts";

type Part = "workload" | "roots";

export interface Maintenance {
  /** The failed stage, the reason and what to do, in one line; `undefined` if all is well. */
  problem(): string | undefined;
  close(): Promise<void>;
}

export type CertificateStore = ReturnType<typeof certificateStore>;

/** An empty store. */
export function certificateStore() {
  const subscribers = new Set<(what: Part) => void>();
  let workload: KeyPair | undefined;
  let roots: string | undefined;
  const notify = (what: Part) => [...subscribers].forEach((changed) => changed(what));
  return {
    workload: () => workload,
    /** Root certificates of the peers, PEM. */
    roots: () => roots,
    /** Calls back on each change, until the returned function is called. */
    subscribe(changed: (what: Part) => void): () => void {
      subscribers.add(changed);
      return () => subscribers.delete(changed);
    },
    /** Notifies about roots first, and only of changes: peers must trust a root before its certificates appear. */
    put(newWorkload: KeyPair | undefined = workload, newRoots: string | undefined = roots): void {
      const isNewRoots = newRoots !== roots;
      const isNewWorkload = newWorkload?.certificate !== workload?.certificate || newWorkload?.key !== workload?.key;
      [workload, roots] = [newWorkload, newRoots];
      if (isNewRoots) notify("roots");
      if (isNewWorkload) notify("workload");
    },
  };
}
