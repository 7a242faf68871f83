import { ROOT_FILES } from "../../platform/root_files.ts";

/** The content of a secret, in PEM. */
export type Secret =
  | { readonly kind: "pair"; readonly certificate: string; readonly key: string }
  | { readonly kind: "authorities"; readonly authorities: string };

/** Whether two secrets have the same content. */
export function sameSecret(a: Secret | undefined, b: Secret): boolean {
  if (a?.kind === "pair") return b.kind === "pair" && a.certificate === b.certificate && a.key === b.key;
  return a !== undefined && b.kind === "authorities" && a.authorities === b.authorities;
}

export interface SecretSource {
  /** Returns the current secret; `undefined` until the first secret arrives. */
  current(): Secret | undefined;
  problem(): string | undefined;
  close(): void;
}

/** Opens a secret and calls `changed` on each change until closed. Returns `undefined` for an unknown name. */
export type OpenSecret = (name: string, changed: () => void) => SecretSource | undefined;

type SecretName = { readonly kind: "workload" | "roots" } | FileSecretName;

export type FileSecretName =
  | { readonly kind: "pair"; readonly certificate: string; readonly key: string }
  | { readonly kind: "authorities"; readonly paths: readonly string[] };

const FIXED: ReadonlyMap<string, SecretName> = new Map<string, SecretName>([
  ["default", { kind: "workload" }],
  ["ROOTCA", { kind: "roots" }],
  ["file-root:system", { kind: "authorities", paths: ROOT_FILES }],
]);

const FILES = /^file-(cert|root):(.+)$/s;
const SEPARATOR = "~";

/**
 * Parses a name that Istio gives to proxies: `default`, `ROOTCA`, `file-cert:CERTIFICATE~KEY`, `file-root:FILE`,
 * `file-root:system`. Source: Istio's SdsCertificateConfigFromResourceName.
 */
export function parseSecretName(name: string): SecretName | undefined {
  const fixed = FIXED.get(name);
  if (fixed !== undefined) return fixed;
  const [, kind, text = ""] = FILES.exec(name) ?? [];
  const paths = text.split(SEPARATOR);
  const [first = "", second = ""] = paths;
  if (kind === "root" && paths.length === 1) return { kind: "authorities", paths };
  if (kind !== "cert" || paths.length !== 2 || first === "" || second === "") return undefined;
  return { kind: "pair", certificate: first, key: second };
}
