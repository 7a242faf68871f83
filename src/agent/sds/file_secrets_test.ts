import assert from "node:assert/strict";
import { testCertificate } from "../../../test/support/tls/certificates.ts";
import { startLog } from "../../platform/log.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { fileSecret } from "./file_secrets.ts";
import { parseSecretName } from "./secret.ts";

const [ONE, TWO] = [testCertificate(), testCertificate()];

/** The source of a name, how often it has reported changes, and files to change. */
function opened(name: string, files: Record<string, string> = {}) {
  const world = fakeWorld({ files });
  let changes = 0;
  const parsed = parseSecretName(name);
  assert.ok(parsed?.kind === "pair" || parsed?.kind === "authorities");
  const log = startLog(world, "sds");
  const source = fileSecret({ files: world.files, log, name, changed: () => changes++ }, parsed);
  return {
    source,
    world,
    changes: () => changes,
    async write(path: string, text: string) {
      world.content.set(path, new TextEncoder().encode(text));
      world.change(path);
      await settled();
    },
  };
}

/** Files of a fake world are read within a few turns. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve));
}

Deno.test("a pair of files is waited for, and a certificate is never served with a foreign key", async () => {
  const { source, changes, write, world } = opened("file-cert:c~k");
  await settled();
  assert.equal(source.current(), undefined);
  assert.match(source.problem() ?? "", /Cannot read "c": no such file/);
  await write("c", ONE.certificate);
  await write("k", ONE.key);
  const { certificate, key } = ONE;
  assert.deepEqual(source.current(), { kind: "pair", certificate, key });
  assert.equal(source.problem(), undefined);
  await write("c", TWO.certificate);
  assert.deepEqual(source.current(), { kind: "pair", certificate, key });
  assert.match(source.problem() ?? "", /The key "k" does not belong to the certificate "c"/);
  assert.equal(changes(), 1);
  await write("k", TWO.key);
  assert.deepEqual(source.current(), { kind: "pair", certificate: TWO.certificate, key: TWO.key });
  assert.equal(changes(), 2);
  assert.match(world.said.stderr, /warning sds: Cannot use the files of the secret "file-cert:c~k": The key/);
  assert.ok(!world.said.stderr.includes("BEGIN"));
});

Deno.test("equal content is not a change, and a closed source does not notify", async () => {
  const { source, changes, write } = opened("file-root:r", { r: ONE.authority });
  await settled();
  assert.equal(changes(), 1);
  await write("r", ONE.authority);
  assert.equal(changes(), 1);
  source.close();
  await write("r", TWO.authority);
  assert.equal(changes(), 1);
});

Deno.test("a file without a certificate is neither served nor logged", async () => {
  const secret = "user:secret-of-somebody";
  for (const text of [secret, ONE.key, ""]) {
    const { source, world } = opened("file-root:/etc/shadow", { "/etc/shadow": text });
    await settled();
    assert.equal(source.current(), undefined);
    assert.ok(world.said.stderr.includes("No certificate in PEM"), world.said.stderr);
    assert.ok(!world.said.stderr.includes("secret-of") && !world.said.stderr.includes("PRIVATE"));
  }
});

Deno.test("file-root:system is the first known file that exists", async () => {
  const { source } = opened("file-root:system", { "/etc/ssl/cert.pem": ONE.authority });
  await settled();
  assert.deepEqual(source.current(), { kind: "authorities", authorities: ONE.authority });
  const none = opened("file-root:system");
  await settled();
  assert.match(none.source.problem() ?? "", /No root certificates found.*; looked for \/etc\/ssl/);
});
