/** krew 0.5 installs, upgrades and removes the plugin; kubectl runs it in between. */
import assert from "node:assert/strict";
import { VERSION } from "../../../src/version.ts";
import { archiveOf } from "../../../tools/release/archive.ts";
import { krewManifest } from "../../../tools/release/krew.ts";
import { type Binary, type Document, goPlatform, type Release } from "../../../tools/release/release.ts";
import { thisPlatform } from "../../../tools/compile/platforms.ts";
import { goProgram } from "../../support/programs/go_program.ts";
import { oldKubectl } from "../../support/programs/old_kubectl.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { program, releaseOf, script } from "./support.ts";

const KREW = "test/e2e/install/krew";
const OLD = "0.0.9";

testWhen(needsProgram("go") ?? needsProgram("git"), "krew installs the plugin, and kubectl runs it", async (t) => {
  const krew = await goProgram(KREW, "sigs.k8s.io/krew/cmd/krew");
  const validate = await goProgram(KREW, "sigs.k8s.io/krew/cmd/validate-krew-manifest");
  const kubectl = needsProgram("kubectl") === undefined
    ? "kubectl"
    : await goProgram("test/e2e/servers", "k8s.io/kubernetes/cmd/kubectl");
  await using folder = await temporaryFolder();
  await using server = serveFiles();
  const box = new Box(folder.path, { krew, kubectl });
  const [before, current] = [
    await made(releaseOf(OLD, server.url, script(`echo "kubectl-mesh ${OLD}"`))),
    await made(releaseOf(VERSION, server.url, await program())),
  ];
  for (const { archives } of [before, current]) for (const each of archives.values()) server.files.set(each.name, each);
  await box.initialize();

  await t.step("krew's own validation accepts the manifest", async () => {
    const file = await box.write("mesh.yaml", current.manifest);
    const { code, stderr } = await box.run(validate, ["-manifest", file, "-skip-install"]);
    assert.equal(code, 0, stderr);
  });

  await t.step("krew installs from a local archive, for this platform and for others, and uninstalls", async () => {
    const manifest = await box.write("mesh.yaml", current.manifest);
    for (const [{ platform }, archive] of current.archives) {
      const { os, arch } = goPlatform(platform);
      const file = await box.write(archive.name, archive.content);
      const env = { KREW_OS: os, KREW_ARCH: arch };
      await box.krew(["install", `--manifest=${manifest}`, `--archive=${file}`], env);
      if (platform === thisPlatform()) assert.match(await box.version(), new RegExp(`^kubectl-mesh ${VERSION}\n`));
      await box.krew(["uninstall", "mesh"], env);
    }
    assert.notEqual((await box.run(kubectl, ["mesh", "version", "--client"])).code, 0);
  });

  await t.step("krew installs from an index, and upgrades to a newer version", async () => {
    const index = await box.index("mesh", before.manifest);
    await box.krew(["index", "add", "mesh", index.path]);
    await box.krew(["install", "mesh/mesh"]);
    assert.equal(await box.version(), `kubectl-mesh ${OLD}\n`);
    await index.publish(current.manifest);
    await box.krew(["update"]);
    await box.krew(["upgrade", "mesh"]);
    assert.match(await box.version(), new RegExp(`^kubectl-mesh ${VERSION}\n`));
    const [line] = (await box.krew(["list"])).split("\n").filter((each) => each.includes("mesh"));
    assert.equal(line?.trim(), "mesh/mesh");
  });

  await runsInOldKubectl(t, box);

  await t.step("krew removes the plugin", async () => {
    await box.krew(["uninstall", "mesh"]);
    assert.equal((await box.krew(["list"])).trim(), "");
    assert.notEqual((await box.run(kubectl, ["mesh", "version", "--client"])).code, 0);
  });
});

/** The installed plugin in kubectl 1.20. */
async function runsInOldKubectl(t: Deno.TestContext, box: Box): Promise<void> {
  const { path, missing } = await oldKubectl();
  await t.step({
    name: missing === undefined ? "kubectl 1.20 runs it too" : `kubectl 1.20 runs it too [skipped: ${missing}]`,
    ignore: missing !== undefined,
    fn: async () => {
      assert.match((await box.run(path, ["version", "--client", "--short"])).stdout, /: v1\.20\./);
      assert.equal(await box.version(path), await box.version());
      const { code, stderr } = await box.run(path, ["mesh", "inject", "-f", `${box.folder}/absent.yaml`]);
      assert.equal(code, 1);
      assert.match(stderr, /^error: .*absent\.yaml/);
      assert.match((await box.run(path, ["plugin", "list"])).stdout, /kubectl-mesh$/m);
    },
  });
}

interface Made {
  readonly archives: ReadonlyMap<Binary, Document>;
  readonly manifest: string;
}

async function made(release: Release): Promise<Made> {
  const archives = new Map<Binary, Document>();
  for (const binary of release.binaries) archives.set(binary, await archiveOf(release, binary));
  return { archives, manifest: krewManifest(release, archives) };
}

/** Serves files by name, whatever folder is asked for. */
function serveFiles() {
  const files = new Map<string, Document>();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, ({ url }) => {
    const file = files.get(new URL(url).pathname.replace(/^.*\//, ""));
    return file === undefined ? new Response("", { status: 404 }) : new Response(file.content);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/mesh`,
    files,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** krew in its own home folder. Before any command krew fetches its default index: here an empty one. */
class Box {
  constructor(readonly folder: string, readonly programs: { readonly krew: string; readonly kubectl: string }) {}

  async initialize(): Promise<void> {
    await linkPrograms(`${this.folder}/bin`);
    await this.index("default", undefined);
    await this.krew(["update"]);
  }

  async write(name: string, content: string | Uint8Array): Promise<string> {
    const file = `${this.folder}/${name}`;
    await Deno.writeFile(file, typeof content === "string" ? new TextEncoder().encode(content) : content);
    return file;
  }

  /** A repository with an index of plugins, and a function that publishes another version of this plugin. */
  async index(name: string, manifest: string | undefined) {
    const path = `${this.folder}/index-${name}`;
    const git = async (...args: string[]) => {
      const { code, stderr } = await this.run("git", ["-C", path, ...args]);
      assert.equal(code, 0, stderr);
    };
    const publish = async (text: string | undefined) => {
      await Deno.writeTextFile(`${path}/plugins/${text === undefined ? ".gitkeep" : "mesh.yaml"}`, text ?? "");
      await git("add", "plugins");
      await git("-c", "user.name=a", "-c", "user.email=a@b.test", "commit", "--quiet", "-m", "plugins");
    };
    await Deno.mkdir(`${path}/plugins`, { recursive: true });
    await git("init", "--quiet");
    await publish(manifest);
    return { path, publish };
  }

  /** What krew prints on standard output. krew must succeed. */
  async krew(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(this.programs.krew, args, env);
    assert.equal(code, 0, `krew ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** What `kubectl mesh version --client` prints. The command must succeed. */
  async version(kubectl = this.programs.kubectl): Promise<string> {
    const { code, stdout, stderr } = await this.run(kubectl, ["mesh", "version", "--client"]);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  async run(command: string, args: readonly string[], env: Record<string, string> = {}) {
    const root = `${this.folder}/krew`;
    const { code, stdout, stderr } = await new Deno.Command(command, {
      args: [...args],
      env: {
        HOME: this.folder,
        KREW_ROOT: root,
        KREW_DEFAULT_INDEX_URI: `${this.folder}/index-default`,
        KREW_NO_UPGRADE_CHECK: "1",
        PATH: `${root}/bin:${this.folder}/bin`,
        ...env,
      },
      stdin: "null",
    }).output();
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  }
}

/** Links all programs of PATH into a folder, except this plugin: an installed one would hide krew's. */
async function linkPrograms(folder: string): Promise<void> {
  await Deno.mkdir(folder);
  const linked = new Set<string>();
  for (const path of (Deno.env.get("PATH") ?? "").split(":")) {
    for (const { name } of await Array.fromAsync(Deno.readDir(path)).catch(() => [])) {
      if (linked.has(name) || /^kubectl[-_].*mesh$/.test(name)) continue;
      linked.add(name);
      await Deno.symlink(`${path}/${name}`, `${folder}/${name}`);
    }
  }
}
