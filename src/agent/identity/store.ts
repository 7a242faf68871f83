/** The certificate, key and roots in force, and who is told of new ones. */

/** A certificate and its key, PEM. */
export interface KeyMaterial {
  /** The chain, leaf first. */
  readonly certificate: string;
  readonly key: string;
}

/** What can change. */
export type Part = "workload" | "roots";

/** Keeps them. */
export interface Material {
  workload(): KeyMaterial | undefined;
  roots(): string | undefined;
  subscribe(changed: (what: Part) => void): () => void;
  /** Puts new ones in force. Roots are told first, and only if they differ: what they sign comes behind them. */
  put(workload: KeyMaterial | undefined, roots: string | undefined): void;
}

export function newMaterial(): Material {
  const subscribers = new Set<(what: Part) => void>();
  let workload: KeyMaterial | undefined;
  let roots: string | undefined;
  const tell = (what: Part) => [...subscribers].forEach((changed) => changed(what));
  return {
    workload: () => workload,
    roots: () => roots,
    subscribe(changed) {
      subscribers.add(changed);
      return () => subscribers.delete(changed);
    },
    put(newWorkload = workload, newRoots = roots) {
      const isOtherRoots = newRoots !== roots;
      const isOtherWorkload = newWorkload?.certificate !== workload?.certificate || newWorkload?.key !== workload?.key;
      [workload, roots] = [newWorkload, newRoots];
      if (isOtherRoots) tell("roots");
      if (isOtherWorkload) tell("workload");
    },
  };
}
