/** An identity that tests set directly. */

/** A key and its certificate. All texts are PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The identity that `src/agent` uses, with setters for tests. */
export class FakeIdentity {
  #workload: KeyPair | undefined;
  #roots: string | undefined;
  readonly handlers = new Set<(what: "workload" | "roots") => void>();
  readonly workload = () => this.#workload;
  readonly roots = () => this.#roots;
  readonly problem = () => this.#workload === undefined ? "the CA does not answer" : undefined;
  readonly subscribe = (changed: (what: "workload" | "roots") => void) => {
    this.handlers.add(changed);
    return () => void this.handlers.delete(changed);
  };

  readonly close = () => Promise.resolve();

  issue(workload: KeyPair): void {
    this.#workload = workload;
    for (const handler of this.handlers) handler("workload");
  }

  trust(roots: string): void {
    this.#roots = roots;
    for (const handler of this.handlers) handler("roots");
  }
}
