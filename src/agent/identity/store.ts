/** The certificate, key and roots in force. */
import type { KeyPair } from "../../golang/x509/mod.ts";

type Part = "workload" | "roots";

export interface CertificateStore {
  /** Certificate chain and key; `undefined` before the first. */
  workload(): KeyPair | undefined;
  /** Root certificates of the peers, PEM. */
  roots(): string | undefined;
  /** Returns a function that unsubscribes. */
  subscribe(changed: (what: Part) => void): () => void;
  /** Notifies about roots first, and only of changes: peers must trust a root before its certificates appear. */
  put(workload: KeyPair | undefined, roots: string | undefined): void;
}

export interface Maintenance {
  /** The failed stage, the reason and what to do, in one line; `undefined` if all is well. */
  problem(): string | undefined;
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
