/** Certificates in files of the real system, swapped as mounted Secrets are. */
import assert from "node:assert/strict";
import { testCertificate } from "../../../test/support/tls/certificates.ts";
import { SETTINGS } from "../../../test/support/agent/started_identity.ts";
import { until } from "../../../test/support/until.ts";
import { MeshError } from "../../base/errors.ts";
import { startLog } from "../../platform/log.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { realFiles } from "../../platform/deno/files.ts";
import { watchFiles } from "../../platform/deno/watch.ts";
import { type Identity, startIdentity } from "./mod.ts";
import type { MountedPaths } from "./options.ts";

/** A folder as the kubelet mounts one: names lead through the link `..data` to the version in force. */
class Mount {
  #version = 0;

  constructor(readonly path: string) {}

  get places(): MountedPaths {
    return {
      certificate: `${this.path}/cert-chain.pem`,
      key: `${this.path}/key.pem`,
      roots: `${this.path}/root-cert.pem`,
    };
  }

  /** Puts other files in place, all at once. */
  async swap(files: Record<string, string>): Promise<void> {
    const version = `..version-${this.#version++}`;
    await Deno.mkdir(`${this.path}/${version}`, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${this.path}/${version}/${name}`, text);
      await Deno.symlink(`..data/${name}`, `${this.path}/${name}`).catch(() => {});
    }
    await Deno.symlink(version, `${this.path}/..data-new`);
    await Deno.rename(`${this.path}/..data-new`, `${this.path}/..data`);
  }
}

function filesOf({ certificate, key, authority }: ReturnType<typeof testCertificate>): Record<string, string> {
  return { "cert-chain.pem": certificate, "key.pem": key, "root-cert.pem": authority };
}

interface Test {
  readonly identity: Identity;
  readonly mount: Mount;
  readonly changes: string[];
  readonly said: { readonly stderr: string };
}

/** Looks at files more often than the agent does. */
async function withMount(first: Record<string, string>, run: (test: Test) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const mount = new Mount(folder);
    await mount.swap(first);
    const fake = fakeWorld();
    const files = {
      ...realFiles,
      watch: (paths: readonly string[], _: number, changed: () => void) => watchFiles(paths, 5, changed),
    };
    const world = { ...fake, files, clock: { ...fake.clock, now: () => new Date() } };
    const identity = await startIdentity(world, {
      ...SETTINGS,
      spiffeId: "spiffe://a/ns/b/sa/c",
      mounted: [mount.places],
      isMountedOnly: true,
      log: startLog(world, "agent").getChild("sds"),
    });
    const changes: string[] = [];
    identity.subscribe((what) => changes.push(what));
    await run({ identity, mount, changes, said: fake.said });
    await identity.close();
    assert(!fake.said.stderr.includes("PRIVATE KEY"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("mounted files are the identity, and an update is one change", async () => {
  const [one, two] = [testCertificate(), testCertificate()];
  await withMount(filesOf(one), async ({ identity, mount, changes, said }) => {
    assert.deepEqual(identity.workload(), { certificate: one.certificate, key: one.key });
    assert.deepEqual([identity.roots(), identity.problem(), changes], [one.authority, undefined, []]);
    await mount.swap(filesOf(two));
    await until(() => changes.length === 2);
    assert.deepEqual(changes, ["roots", "workload"]);
    assert.deepEqual(identity.workload(), { certificate: two.certificate, key: two.key });
    assert.equal(identity.roots(), two.authority);
    assert.equal(said.stderr.match(/is in force, until/g)?.length, 2);
  });
});

Deno.test("a certificate with a foreign key is not used until its key arrives", async () => {
  const [one, two] = [testCertificate(), testCertificate()];
  await withMount(filesOf(one), async ({ identity, mount, changes, said }) => {
    await mount.swap({ ...filesOf(one), "cert-chain.pem": two.certificate });
    await until(() => identity.problem() !== undefined);
    assert.match(
      identity.problem() ?? "",
      /^files: The key ".*key\.pem" does not belong to the certificate ".*"; replace both/,
    );
    assert.equal(identity.workload()?.certificate, one.certificate);
    assert.deepEqual(changes, []);
    assert.equal(said.stderr.match(/warning/g)?.length, 1);
    await mount.swap(filesOf(two));
    await until(() => identity.problem() === undefined);
    assert.equal(identity.workload()?.certificate, two.certificate);
  });
});

Deno.test("invalid roots leave the old ones in force, and the certificate is used without them", async () => {
  const [one, two] = [testCertificate(), testCertificate()];
  await withMount(filesOf(one), async ({ identity, mount, changes }) => {
    await mount.swap({ ...filesOf(two), "root-cert.pem": "none" });
    await until(() => changes.length === 1);
    assert.deepEqual([changes, identity.roots()], [["workload"], one.authority]);
    assert.match(identity.problem() ?? "", /^files: .*root-cert\.pem: No certificate in PEM/);
  });
});

Deno.test("missing files are named and waited for", async () => {
  const one = testCertificate();
  await withMount({}, async ({ identity, mount }) => {
    assert.match(
      identity.problem() ?? "",
      /^files: No certificate: waiting for ".*cert-chain\.pem" with ".*key\.pem"/,
    );
    assert.equal(identity.workload(), undefined);
    await mount.swap(filesOf(one));
    await until(() => identity.workload() !== undefined && identity.roots() !== undefined);
    assert.equal(identity.problem(), undefined);
  });
});

Deno.test("an expired mounted certificate is reported", async () => {
  await withMount(filesOf(testCertificate(-1n)), ({ identity }) => {
    assert.match(
      identity.problem() ?? "",
      /^files: The certificate expired at .*: the program that maintains it has not renewed it$/,
    );
    return Promise.resolve();
  });
});

Deno.test("the first place with certificate and key is used, without the CA", async () => {
  const one = testCertificate();
  const world = fakeWorld({
    files: { "./b/cert": one.certificate, "./b/key": one.key, "./b/roots": one.authority, "./a/cert": "x" },
  });
  const place = (folder: string) => ({ certificate: `${folder}/cert`, key: `${folder}/key`, roots: `${folder}/roots` });
  const identity = await startIdentity(world, {
    ...SETTINGS,
    mounted: [place("./a"), place("./b")],
    log: startLog(world, "agent"),
    call: () => assert.fail("the CA was asked"),
  });
  assert.equal(identity.workload()?.certificate, one.certificate);
  await identity.close();
});

Deno.test("an unreadable place is absent: the CA is used", async () => {
  const world = fakeWorld();
  const refused = () => Promise.reject(new MeshError("Cannot look at it: permission denied"));
  const identity = await startIdentity({ ...world, files: { ...world.files, stat: refused } }, {
    ...SETTINGS,
    mounted: [new Mount("/closed").places],
    log: startLog(world, "agent", {}),
  });
  try {
    assert.equal(identity.workload(), undefined);
    assert.doesNotMatch(identity.problem() ?? "", /permission denied/);
  } finally {
    await identity.close();
  }
});
