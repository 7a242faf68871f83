/** Holds the certificate, key and roots in force, and notifies subscribers. */

export interface KeyMaterial {
  readonly certificate: string;
  readonly key: string;
}

export type Part = "workload" | "roots";

/** The store. */
export interface Material {
  workload(): KeyMaterial | undefined;
  roots(): string | undefined;
  subscribe(changed: (what: Part) => void): () => void;
  /**
   * Replaces the values. Notifies about roots first, and only if they differ: peers must trust a root before
   * certificates of it appear.
   */
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
