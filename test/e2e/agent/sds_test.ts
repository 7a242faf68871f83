/** The agent's SDS server with the real Envoy. */
import assert from "node:assert/strict";
import { startSds } from "../../../src/agent/sds/server.ts";
import { startLog } from "../../../src/platform/log.ts";
import { realWorld } from "../../../src/platform/mod.ts";
import { fakeWorld } from "../../support/fake_world.ts";
import { testCertificate } from "../../support/tls/certificates.ts";
import { FakeIdentity } from "../../support/agent/fake_identity.ts";
import { testWhen } from "../../support/test_when.ts";
import { envoy, SdsEnvoy } from "./support/sds_envoy.ts";
import { until } from "../../support/until.ts";

const [ONE, TWO, CLIENT, OTHER] = [testCertificate(), testCertificate(), testCertificate(), testCertificate()];
const WORKLOAD = { certificate: "default", roots: "ROOTCA" };

/** A server in this process on a socket of its own. */
async function serve(folder: string, identity: FakeIdentity) {
  const said = fakeWorld();
  const log = startLog(said, "agent").getChild("sds");
  const path = `${folder}/spiffe/socket`;
  const sds = await startSds(realWorld(), { path, identity, log });
  return { path, sds, log: () => said.said.stderr };
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-sds-" });
  await work(folder).finally(() => Deno.remove(folder, { recursive: true }));
}

testWhen(
  envoy.missing,
  "Envoy waits for its certificate, and uses a new certificate and a new root while it runs",
  () =>
    inFolder(async (folder) => {
      const identity = new FakeIdentity();
      const { path, sds } = await serve(folder, identity);
      {
        await using proxy = new SdsEnvoy(path, WORKLOAD);
        // The certificate and the root have a stream each.
        await until(() => identity.handlers.size === 2);
        assert.equal(await proxy.answer(CLIENT, ONE), undefined);
        identity.trust(CLIENT.authority);
        identity.issue(ONE);
        await until(async () => await proxy.answer(CLIENT, ONE) === "hello");
        assert.ok(!await proxy.answer(OTHER, ONE));
        identity.issue(TWO);
        await until(async () => await proxy.answer(CLIENT, TWO) === "hello");
        assert.ok(!await proxy.answer(CLIENT, ONE));
        identity.trust(OTHER.authority);
        await until(async () => await proxy.answer(OTHER, TWO) === "hello");
        assert.ok(!await proxy.answer(CLIENT, TWO));
        assert.equal(sds.problem(), undefined);
      }
      await until(() => identity.handlers.size === 0);
      await sds.close();
    }),
);

testWhen(
  envoy.missing,
  "a certificate that Envoy rejects is reported with the reason, and the previous one stays in use",
  () =>
    inFolder(async (folder) => {
      const identity = new FakeIdentity();
      identity.issue(ONE);
      identity.trust(CLIENT.authority);
      const { path, sds, log } = await serve(folder, identity);
      await using proxy = new SdsEnvoy(path, WORKLOAD);
      await until(async () => await proxy.answer(CLIENT, ONE) === "hello");
      identity.issue({ certificate: ONE.certificate, key: TWO.key });
      await until(() => sds.problem() !== undefined);
      assert.match(sds.problem() ?? "", /^Envoy rejects the secret "default": .*private key/i);
      assert.ok(log().includes(`error agent·sds: ${sds.problem()}`));
      assert.ok(!log().includes("BEGIN"));
      assert.equal(await proxy.answer(CLIENT, ONE), "hello");
      identity.issue(TWO);
      await until(async () => await proxy.answer(CLIENT, TWO) === "hello");
      await until(() => sds.problem() === undefined);
      await sds.close();
    }),
);

testWhen(
  envoy.missing,
  "two Envoys at once, a killed Envoy, and a restarted server",
  () =>
    inFolder(async (folder) => {
      const identity = new FakeIdentity();
      identity.issue(ONE);
      identity.trust(CLIENT.authority);
      const first = await serve(folder, identity);
      await using proxy = new SdsEnvoy(first.path, WORKLOAD);
      await using other = new SdsEnvoy(first.path, WORKLOAD);
      for (const each of [proxy, other]) await until(async () => await each.answer(CLIENT, ONE) === "hello");
      assert.equal(identity.handlers.size, 4);
      await proxy.kill();
      await until(() => identity.handlers.size === 2);
      proxy.restart();
      await until(async () => await proxy.answer(CLIENT, ONE) === "hello");
      await first.sds.close();
      assert.equal(identity.handlers.size, 0);
      const second = await serve(folder, identity);
      identity.issue(TWO);
      for (const each of [proxy, other]) await until(async () => await each.answer(CLIENT, TWO) === "hello");
      await second.sds.close();
    }),
);

testWhen(
  envoy.missing,
  "certificates and authorities in files are replaced like mounted Secrets",
  () =>
    inFolder(async (folder) => {
      const { path, sds } = await serve(folder, new FakeIdentity());
      await mount(folder, "1", { "tls.crt": ONE.certificate, "tls.key": ONE.key, "ca.crt": CLIENT.authority });
      const certificate = `file-cert:${folder}/tls.crt~${folder}/tls.key`;
      await using proxy = new SdsEnvoy(path, { certificate, roots: `file-root:${folder}/ca.crt` });
      await until(async () => await proxy.answer(CLIENT, ONE) === "hello");
      await mount(folder, "2", { "tls.crt": TWO.certificate, "tls.key": TWO.key, "ca.crt": OTHER.authority });
      await until(async () => await proxy.answer(OTHER, TWO) === "hello");
      await sds.close();
    }),
);

/** Like the kubelet: a folder for each version, and the link `..data` that is swapped. */
async function mount(folder: string, version: string, files: Readonly<Record<string, string>>): Promise<void> {
  await Deno.mkdir(`${folder}/..${version}`);
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${folder}/..${version}/${name}`, text);
    await Deno.symlink(`..data/${name}`, `${folder}/${name}`).catch(() => {});
  }
  await Deno.symlink(`..${version}`, `${folder}/..data_tmp`);
  await Deno.rename(`${folder}/..data_tmp`, `${folder}/..data`);
}
