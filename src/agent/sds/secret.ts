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

/** What the name of a secret stands for. */
export type SecretName =
  | { readonly kind: "workload" }
  | { readonly kind: "roots" }
  | { readonly kind: "pair"; readonly certificate: string; readonly key: string }
  /** The first of these files that is there. */
  | { readonly kind: "authorities"; readonly paths: readonly string[] };

/** Where systems keep the authorities that they trust. Source: Go's crypto/x509, root_linux.go. */
const SYSTEM_ROOTS = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
  "/usr/local/etc/ssl/cert.pem",
];

const FIXED: ReadonlyMap<string, SecretName> = new Map<string, SecretName>([
  ["default", { kind: "workload" }],
  ["ROOTCA", { kind: "roots" }],
  ["file-root:system", { kind: "authorities", paths: SYSTEM_ROOTS }],
]);

const FILES = /^file-(cert|root):(.+)$/s;
const SEPARATOR = "~";

/**
 * Reads a name as Istio gives them to proxies: `default`, `ROOTCA`, `file-cert:CERTIFICATE~KEY`, `file-root:FILE` and
 * `file-root:system`; `undefined` for any other. Source: Istio's SdsCertificateConfigFromResourceName.
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
