/**
 * The authorities that the system trusts, for a server that is to be known by them alone: where Go looks for them
 * (crypto/x509/root_linux.go), as Deno knows Mozilla's only, unless it is told at its start.
 */
const FILES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** PEM; `undefined` if there is no such file. `SSL_CERT_FILE` is before all others. */
export async function systemRoots(): Promise<string | undefined> {
  const own = Deno.env.get("SSL_CERT_FILE") ?? "";
  for (const file of own === "" ? FILES : [own]) {
    try {
      return await Deno.readTextFile(file);
    } catch {
      // Another system has it elsewhere.
    }
  }
  return undefined;
}
