/** The Debian and RPM packages are installed into an empty root, with the libraries that they depend on, and run there. */
import assert from "node:assert/strict";
import { VERSION } from "../../../src/version.ts";
import { linuxPackages } from "../../../tools/release/packages.ts";
import { thisPlatform } from "../../../tools/compile/platforms.ts";
import { CHECKOUT } from "../../support/programs/cache.ts";
import { MESH_BINARY, MESH_COMMAND } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { program, releaseOf, script } from "./support.ts";

const DATABASE = ["info", "updates", "triggers"];
const FILES = [
  "/usr/bin/kubectl-mesh",
  "/usr/share/man/man1/kubectl-mesh.1.gz",
  "/usr/share/doc/kubectl-mesh/copyright",
  "/usr/share/doc/kubectl-mesh/THIRD_PARTY_LICENSES",
  "/usr/share/bash-completion/completions/kubectl-mesh",
  "/usr/share/fish/vendor_completions.d/kubectl-mesh.fish",
];

/** How a package is installed into a root, and removed; dependencies are copied by the test. */
const MANAGERS = {
  deb: {
    program: "dpkg",
    zsh: "/usr/share/zsh/vendor-completions/_kubectl-mesh",
    prepare: async (root: string) => {
      for (const name of DATABASE) await Deno.mkdir(`${root}/var/lib/dpkg/${name}`, { recursive: true });
      await Deno.writeTextFile(`${root}/var/lib/dpkg/status`, "");
    },
    install: (root: string, file: string) => ["dpkg", `--root=${root}`, "--force-depends", "-i", file],
    remove: (root: string) => ["dpkg", `--root=${root}`, "--purge", "kubectl-mesh"],
  },
  rpm: {
    program: "rpm",
    zsh: "/usr/share/zsh/site-functions/_kubectl-mesh",
    prepare: (root: string) => Deno.mkdir(`${root}/var/lib/rpm`, { recursive: true }),
    install: (root: string, file: string) => ["rpm", "--root", root, "--nodeps", "-i", file],
    remove: (root: string) => ["rpm", "--root", root, "-e", "kubectl-mesh"],
  },
} as const;

const missing = (MESH_BINARY !== undefined ? undefined : "MESH_BINARY names no compiled binary") ??
  (Deno.uid() === 0 ? undefined : "it needs root, for chroot") ?? needsProgram("go") ?? needsProgram("ldd");

testWhen(missing, "the packages are installed in an empty root, run there, and are removed", async (t) => {
  await using folder = await temporaryFolder();
  const release = releaseOf(VERSION, "https://example.com/mesh", await program());
  const own = { ...release, binaries: release.binaries.filter(({ platform }) => platform === thisPlatform()) };
  const files = await linuxPackages(own, CHECKOUT, `${folder.path}/work`);
  for (const [format, manager] of Object.entries(MANAGERS)) {
    const file = files.find(({ name }) => name.endsWith(`.${format}`));
    assert.ok(file !== undefined);
    const path = `${folder.path}/${file.name}`;
    await Deno.writeFile(path, file.content);
    const ignore = needsProgram(manager.program) !== undefined;
    await t.step({ name: format, ignore, fn: () => installed(`${folder.path}/${format}`, path, manager) });
  }
});

async function installed(root: string, file: string, manager: typeof MANAGERS[keyof typeof MANAGERS]): Promise<void> {
  await copyLibraries(root);
  await manager.prepare(root);
  await run(manager.install(root, file));
  const files = [...FILES, manager.zsh];
  for (const path of files) assert.ok((await Deno.stat(`${root}${path}`)).isFile, path);
  const own = await inRoot(root, ["/usr/bin/kubectl-mesh", "version", "--client"]);
  assert.match(own, new RegExp(`^kubectl-mesh ${VERSION}\n`));
  assert.match(await inRoot(root, ["/usr/bin/kubectl_complete-mesh", "vers"]), /^version\t/);
  await run(manager.remove(root));
  for (const path of files) await assert.rejects(Deno.lstat(`${root}${path}`), Deno.errors.NotFound);
}

testWhen(needsProgram("go"), "two packages of the same release have the same bytes", async () => {
  await using folder = await temporaryFolder();
  const release = releaseOf(VERSION, "https://example.com/mesh", script("exit 1"));
  const [one, other] = [
    await linuxPackages(release, CHECKOUT, `${folder.path}/one`),
    await linuxPackages(release, CHECKOUT, `${folder.path}/another folder`),
  ];
  assert.deepEqual(one.map(({ name }) => name), [
    `kubectl-mesh_${VERSION}-1_amd64.deb`,
    `kubectl-mesh-${VERSION}-1.x86_64.rpm`,
    `kubectl-mesh_${VERSION}-1_arm64.deb`,
    `kubectl-mesh-${VERSION}-1.aarch64.rpm`,
  ]);
  for (const [at, { name, content }] of one.entries()) assert.deepEqual(content, other[at]?.content, name);
});

/** Copies what the packages depend on: the C library, GCC's library and the dynamic loader. */
async function copyLibraries(root: string): Promise<void> {
  for (const [path] of (await run(["ldd", MESH_COMMAND])).matchAll(/\/\S+(?= \(0x)/g)) {
    await Deno.mkdir(`${root}${path.replace(/[^/]*$/, "")}`, { recursive: true });
    await Deno.copyFile(path, `${root}${path}`);
  }
}

/** Runs a program in a root of its own, with the `/proc` and `/dev` that every system has. */
async function inRoot(root: string, command: readonly string[]): Promise<string> {
  for (const name of ["proc", "dev"]) await Deno.mkdir(`${root}/${name}`, { recursive: true });
  const mount = 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"';
  return await run(["unshare", "--mount", "sh", "-c", mount, root, ...command]);
}

async function run([command = "", ...args]: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(command, { args, env: { HOME: "/" }, stdin: "null" })
    .output();
  assert.equal(code, 0, `${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}
