/** What a proxy is given under a name. All texts are PEM. */
export type Secret =
  | { readonly kind: "pair"; readonly certificate: string; readonly key: string }
  | { readonly kind: "authorities"; readonly authorities: string };

/** Whether two say the same. */
export function sameSecret(a: Secret | undefined, b: Secret): boolean {
  if (a?.kind === "pair") return b.kind === "pair" && a.certificate === b.certificate && a.key === b.key;
  return a !== undefined && b.kind === "authorities" && a.authorities === b.authorities;
}

/** A secret that may come later and may change. */
export interface SecretSource {
  /** What is in force; `undefined` before the first. */
  current(): Secret | undefined;
  /** What it waits for, as a line; `undefined` if that is not known. */
  problem(): string | undefined;
  close(): void;
}

/** Where secrets come from. */
export interface Secrets {
  /** The source of a name, which tells of each change until it is closed; `undefined` for a name that nobody knows. */
  open(name: string, changed: () => void): SecretSource | undefined;
}
