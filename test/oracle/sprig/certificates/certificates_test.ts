/** Go's crypto/x509 and openssl read our certificates like sprig's. */
import assert from "node:assert/strict";
import { parse } from "../../../../src/golang/gotemplate/mod.ts";
import { loadLibraries, sprigFunctions } from "../../../../src/golang/gotemplate/sprig/mod.ts";
import { goJsonParse } from "../../../../src/golang/go_json.ts";
import { needsProgram, testWhen } from "../../../support/test_when.ts";
import { askGo } from "../go.ts";
import { askGoProgram } from "../../../support/programs/go_program.ts";

const data = Deno.readTextFileSync(new URL("../testdata/data.json", import.meta.url));
const funcs = sprigFunctions({ now: () => new Date() });

/** Each template creates `$c`, and `$ca` if another certificate signs it. */
const TEMPLATES = [
  '{{ $c := genCA "Some CA" 365 }}',
  '{{ $c := genCA "" 1 }}',
  '{{ $c := genCA "Ünï*" 20000 }}',
  '{{ $c := genSelfSignedCert "a.example" (list "10.0.0.1" "::1" "::ffff:1.2.3.4") (list "a.example" "*.b") 30 }}',
  '{{ $c := genSelfSignedCert "" nil (list "a") 0 }}',
  '{{ $c := genSelfSignedCert "a&b" nil nil -1 }}',
  '{{ $c := genSelfSignedCert "a" nil nil 200000 }}',
  '{{ $ca := genCA "ca" 10 }}{{ $c := genSignedCert "a" (list "1.2.3.4") (list "a" "") 1 $ca }}',
  '{{ $ca := genCA "ca" 10 }}{{ $c := genSignedCert "ca" nil nil 1 $ca }}',
  '{{ $ca := genCA "" 10 }}{{ $c := genSignedCert "a" nil nil 1 $ca }}',
  ...["rsa", "rsaPkcs8", "p224", "p256", "p256Pkcs8", "p384", "p384Pkcs8", "p521", "p521Pkcs8", "ed25519"].flatMap((
    key,
  ) => [
    `{{ $c := genCAWithKey "ca" 10 .keys.${key} }}`,
    `{{ $c := genSelfSignedCertWithKey "a" nil (list "a") 10 .keys.${key} }}`,
    `{{ $ca := genCAWithKey "ca" 10 .keys.${key} }}{{ $c := genSignedCertWithKey "a" nil nil 1 $ca .keys.p384 }}`,
    `{{ $ca := genCAWithKey "ca" 10 .keys.p256 }}{{ $c := genSignedCertWithKey "a" nil nil 1 $ca .keys.${key} }}`,
  ]),
  "{{ $ca := buildCustomCert (.keys.certificate | b64enc) (.keys.rsaPkcs8 | b64enc) }}" +
  '{{ $c := genSignedCertWithKey "a" nil nil 1 $ca .keys.ed25519 }}',
].map((text) => `${text}{{ $c.Cert }}|{{ $c.Key }}|{{ ${text.includes("$ca") ? "$ca" : "$c"}.Cert }}`);

interface Answer {
  readonly error?: string;
  readonly fields?: Record<string, unknown>;
}

async function describeAll(outputs: readonly string[]): Promise<Answer[]> {
  const requests = outputs.map((output) => {
    const [cert, key, issuer] = output.split("|");
    return { cert, key, issuer };
  });
  return await askGoProgram("test/oracle/sprig/certificates", requests, (line): Answer => JSON.parse(line));
}

/** Replaces the times by the lifetime. */
function withoutClock({ error, fields: { NotBefore, NotAfter, ...rest } = {} }: Answer) {
  const seconds = (Date.parse(String(NotAfter)) - Date.parse(String(NotBefore))) / 1000;
  return { error, ...rest, days: Math.round(seconds / 86400 * 100) / 100 };
}

testWhen(needsProgram("go"), "certificates: crypto/x509 reads ours like sprig's", async () => {
  await loadLibraries(...TEMPLATES);
  const outputs = TEMPLATES.map((template) => parse("t", template, { funcs }).render(goJsonParse(data)));
  const ours = await describeAll(outputs);
  const answers = await askGo(TEMPLATES.map((template) => ({ name: "t", template, data: JSON.parse(data) })));
  const theirs = await describeAll(answers.map(({ out = "", error = "" }) => out + error));
  TEMPLATES.forEach((template, i) => {
    assert.equal(ours[i]?.error, undefined, template);
    assert.deepEqual(withoutClock(ours[i] ?? {}), withoutClock(theirs[i] ?? {}), template);
  });
});

async function openssl(args: readonly string[], input: string): Promise<string> {
  const child = new Deno.Command("openssl", { args: [...args], stdin: "piped", stdout: "piped", stderr: "piped" })
    .spawn();
  const [output] = await Promise.all([child.output(), new Blob([input]).stream().pipeTo(child.stdin)]);
  assert(output.success, new TextDecoder().decode(output.stderr));
  return new TextDecoder().decode(output.stdout);
}

testWhen(needsProgram("openssl"), "certificates: openssl verifies a chain and reads names and usages", async () => {
  const [ca = "", leaf = ""] = parse(
    "t",
    '{{ $ca := genCAWithKey "Root" 10 .keys.p256 }}{{ $ca.Cert }}|' +
      '{{ (genSignedCertWithKey "leaf" (list "10.0.0.1" "::1") (list "a.example") 2 $ca .keys.ed25519).Cert }}',
    { funcs },
  ).render(goJsonParse(data)).split("|");
  const directory = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${directory}/ca.pem`, ca);
    const verified = await openssl(["verify", "-x509_strict", "-CAfile", `${directory}/ca.pem`], leaf);
    assert.equal(verified, "stdin: OK\n");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
  const extensions = await openssl(["x509", "-noout", "-ext", "subjectAltName,keyUsage,extendedKeyUsage"], leaf);
  assert.match(extensions, /Digital Signature, Key Encipherment\n/);
  assert.match(extensions, /TLS Web Server Authentication, TLS Web Client Authentication\n/);
  assert.match(extensions, /DNS:a\.example, IP Address:10\.0\.0\.1, IP Address:0:0:0:0:0:0:0:1\n/);
});

for (const [kind, size] of [["ecdsa", "256 bit"], ["ed25519", "ED25519 Private-Key"]]) {
  testWhen(needsProgram("openssl"), `genPrivateKey: openssl accepts a key of ${kind}`, async () => {
    const pem = parse("t", `{{ genPrivateKey "${kind}" }}`, { funcs }).render({});
    const text = await openssl(["pkey", "-noout", "-text", "-check"], pem);
    assert(text.includes("Key is valid") && text.includes(size ?? ""), text);
  });
}
