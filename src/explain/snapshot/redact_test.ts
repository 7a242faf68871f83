import assert from "node:assert/strict";
import { CERTIFICATE as certificate, KEY as key } from "../../../test/support/tls/self_signed.ts";
import { withoutSecrets } from "./redact.ts";

const TOKEN = `eyJ${"a".repeat(20)}.eyJ${"b".repeat(30)}.${"c".repeat(20)}`;

Deno.test("private keys and tokens are taken out of every file, certificates stay", () => {
  for (const name of ["config_dump.json", "stats.txt", "rules.nft", "pod.json"] as const) {
    const text = JSON.stringify({
      a: `x ${key} y`,
      b: btoa(key),
      c: TOKEN,
      d: `Bearer ${"t".repeat(20)}`,
      e: btoa(certificate),
    });
    const { text: safe, removed } = withoutSecrets(name, name.endsWith(".json") ? text : text.replaceAll("\\n", "\n"));
    assert.equal(removed.length, 4, name);
    for (const secret of ["PRIVATE KEY", btoa(key).slice(40, 80), TOKEN, "tttt"]) {
      assert.equal(safe.includes(secret), false);
    }
    assert.equal(safe.includes(btoa(certificate)), true);
  }
});

Deno.test("a private key after a long certificate is found in base64", () => {
  const { text } = withoutSecrets("config_dump.json", JSON.stringify({ a: btoa(`${certificate.repeat(20)}${key}`) }));
  assert.equal(text, '{"a":"[redacted]"}\n');
});

Deno.test("fields and headers of Envoy's configuration that hold secrets are redacted", () => {
  const secret = "hunter2-hunter2";
  const dump = {
    tls: {
      private_key: { inline_string: secret, filename: "/etc/key.pem" },
      certificate_chain: { inline_string: "chain" },
    },
    generic_secret: { secret: { inline_bytes: secret } },
    request_headers_to_add: [{ header: { key: "Authorization", value: secret } }, {
      header: { key: "x-a", value: "kept" },
    }],
    match: {
      headers: [{ name: "x-api-key", string_match: { exact: secret } }, {
        name: "cookie",
        string_match: { exact: "kept" },
      }],
    },
    oauth: { client_secret: secret },
    name: "sds-grpc",
  };
  const { text } = withoutSecrets("config_dump.json", JSON.stringify(dump));
  assert.equal(text.includes(secret), false);
  assert.deepEqual([...text.matchAll(/kept|chain"|key\.pem|sds-grpc/g)].length, 6);
});

Deno.test("of a pod the application's environment, commands and foreign annotations are left out", () => {
  const secret = "hunter2";
  const pod = {
    metadata: {
      annotations: {
        "kubectl.kubernetes.io/last-applied-configuration": secret,
        "vault.example/template": secret,
        "sidecar.istio.io/status": "kept",
        "traffic.sidecar.istio.io/excludeOutboundPorts": "kept",
      },
      managedFields: [secret],
    },
    spec: {
      initContainers: [{ name: "istio-init", args: ["kept"], env: [{ name: "A", value: "kept" }] }],
      containers: [
        {
          name: "app",
          image: "kept",
          command: [secret],
          args: [`--password=${secret}`],
          env: [{ name: "DB", value: secret }, { name: "B", valueFrom: { fieldRef: { fieldPath: "kept" } } }],
          livenessProbe: { httpGet: { path: "kept", httpHeaders: [{ name: "x", value: secret }] } },
        },
        { name: "istio-proxy", env: [{ name: "A", value: "kept" }, { name: "X_TOKEN", value: secret }] },
      ],
    },
  };
  const { text } = withoutSecrets("pod.json", JSON.stringify(pod));
  assert.equal(text.includes(secret), false);
  assert.equal([...text.matchAll(/kept/g)].length, 8);
});

Deno.test("broken JSON is redacted as text", () => {
  assert.equal(withoutSecrets("certs.json", `{"a": "${TOKEN}`).text, '{"a": "[redacted]');
});
