import assert from "node:assert/strict";
import { parseSecretName } from "./secret.ts";

Deno.test("parseSecretName(): Istio's names", () => {
  assert.deepEqual(parseSecretName("default"), { kind: "workload" });
  assert.deepEqual(parseSecretName("ROOTCA"), { kind: "roots" });
  assert.deepEqual(parseSecretName("file-cert:/a b/tls.crt~../tls.key"), {
    kind: "pair",
    certificate: "/a b/tls.crt",
    key: "../tls.key",
  });
  assert.deepEqual(parseSecretName("file-root:./ca.pem"), { kind: "authorities", paths: ["./ca.pem"] });
});

Deno.test("parseSecretName(): the system's roots are the first file that exists", () => {
  const name = parseSecretName("file-root:system");
  assert.equal(name?.kind === "authorities" && name.paths[0], "/etc/ssl/certs/ca-certificates.crt");
});

Deno.test("parseSecretName(): other names are unknown", () => {
  const names = ["", "Default", "file-cert:", "file-cert:a", "file-cert:~", "file-cert:a~", "file-cert:~b"];
  for (const name of [...names, "file-cert:a~b~c", "file-root:", "file-root:a~b", "kubernetes://a", "__proto__"]) {
    assert.equal(parseSecretName(name), undefined, name);
  }
});
