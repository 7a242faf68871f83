/**
 * `tools/deno` and `plugin/kubectl-mesh` as programs. A small script stands for Deno: in a wheel that pip reads from a folder, or in
 * an archive that a stand-in for curl copies, which costs less. No test needs a network.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { needsProgram, testWhen } from "../support/test_when.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** A stand-in for Deno: prints its version, gets packages, or prints its path and arguments. */
const FAKE_DENO = `#!/bin/sh
if [ "$1" = --version ]; then echo "deno 2.6.10 (fake)"; exit 0; fi
if [ "$1" = install ]; then mkdir -p "$DENO_DIR" && echo "$PWD $*" >> "$DENO_DIR/installed"; exit; fi
printf '%s|' "$PWD" "\${MESH_ARGV0:-}" "\${DENO_TLS_CA_STORE:-}" "$@"
exit 7
`;

/** curl that gets the release of the Deno project. */
const FAKE_CURL = `#!/bin/sh
while [ "$1" != -o ]; do shift; done
exec cp "\${0%/*}/../deno.zip" "$2"
`;

const MAKE_ARCHIVES = `
import sys, zipfile
folder, tags, content = sys.argv[1], sys.argv[2].split(), sys.argv[3]
with zipfile.ZipFile(f"{folder}/../deno.zip", "w") as release:
    release.writestr("deno", content)
for tag in tags:
    with zipfile.ZipFile(f"{folder}/deno-2.6.10-py3-none-{tag}.whl", "w") as wheel:
        info = "deno-2.6.10.dist-info/"
        wheel.writestr("deno-2.6.10.data/scripts/deno", content)
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: deno\\nVersion: 2.6.10\\n")
        wheel.writestr(info + "WHEEL", f"Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: false\\nTag: py3-none-{tag}\\n")
        wheel.writestr(info + "RECORD", "")
`;

const TAGS = "manylinux_2_27_x86_64 manylinux_2_27_aarch64 macosx_10_12_x86_64 macosx_11_0_arm64";

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Options {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

/** A checkout with only the two scripts, in a folder with a space in its name, and its environment. */
class Sandbox {
  readonly checkout: string;

  constructor(readonly folder: string) {
    this.checkout = `${folder}/check out`;
  }

  static async make({ sha256 = sha256Of(FAKE_DENO), hasRelease = true } = {}): Promise<Sandbox> {
    const box = new Sandbox(await Deno.realPath(await Deno.makeTempDir({ prefix: "mesh tools " })));
    for (const name of ["check out/tools", "check out/plugin", "bin", "wheels", "elsewhere"]) {
      await Deno.mkdir(`${box.folder}/${name}`, { recursive: true });
    }
    await box.program("check out/plugin/kubectl-mesh", await Deno.readTextFile(`${ROOT}/plugin/kubectl-mesh`));
    const script = await Deno.readTextFile(`${ROOT}/tools/deno`);
    await box.program("check out/tools/deno", script.replace(/^(2\.6\.10 +\S+ +)[0-9a-f]{64}$/gm, `$1${sha256}`));
    // Neither the network nor a deno of this machine is used.
    for (const name of ["curl", "wget", "deno"]) await box.program(`bin/${name}`, "#!/bin/sh\nexit 1\n");
    if (hasRelease) await box.program("bin/curl", FAKE_CURL);
    const python = await run(["python3", "-c", MAKE_ARCHIVES, `${box.folder}/wheels`, TAGS, FAKE_DENO]);
    assert.equal(python.code, 0, python.stderr);
    return box;
  }

  async program(name: string, text: string): Promise<void> {
    await Deno.writeTextFile(`${this.folder}/${name}`, text, { mode: 0o755 });
  }

  run(command: readonly string[], { cwd = this.folder, env = {} }: Options = {}): Promise<Outcome> {
    const path = `${this.folder}/bin:${Deno.env.get("PATH")}`;
    // A pip with other configured indexes would find the real wheel.
    const pip = { PIP_NO_INDEX: "1", PIP_FIND_LINKS: `file://${this.folder.replaceAll(" ", "%20")}/wheels` };
    return run(command, { cwd, env: { ...pip, PIP_CONFIG_FILE: "/dev/null", PATH: path, ...env } });
  }

  /** The files in the folder of the version. */
  async kept(): Promise<string[]> {
    const entries = await Array.fromAsync(Deno.readDir(`${this.checkout}/.cache/deno/2.6.10`));
    return entries.map(({ name }) => name);
  }

  async [Symbol.asyncDispose]() {
    await Deno.remove(this.folder, { recursive: true });
  }
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function run([program = "", ...args]: readonly string[], { cwd, env = {} }: Options = {}): Promise<Outcome> {
  const unset = { MESH_CACHE: "", MESH_DENO: "", DENO_DIR: "", DENO_TLS_CA_STORE: "", MESH_ARGV0: "" };
  const options = { args, env: { ...unset, ...env }, stdin: "null" } as const;
  const output = await new Deno.Command(program, cwd === undefined ? options : { ...options, cwd }).output();
  const decoder = new TextDecoder();
  return { code: output.code, stdout: decoder.decode(output.stdout), stderr: decoder.decode(output.stderr) };
}

const pip = await run(["python3", "-m", "pip", "--version"]).then(({ code }) => code === 0).catch(() => false);
const missing = pip ? undefined : "python3 has no pip";
const namespace = await run(["unshare", "-n", "true"]).then(({ code }) => code === 0).catch(() => false);
const noNetwork = namespace ? ["unshare", "-n"] : [];

testWhen(missing, "tools/deno gets Deno once, says so on stderr, and needs no network the second time", async () => {
  await using box = await Sandbox.make({ hasRelease: false });
  const tool = `${box.checkout}/tools/deno`;
  const first = await box.run([tool, "run", "a b"], { cwd: `${box.folder}/elsewhere` });
  assert.equal(first.stdout, `${box.folder}/elsewhere||system,mozilla|run|a b|`, first.stderr);
  assert.equal(first.code, 7);
  assert.match(first.stderr, /^tools\/deno: getting Deno 2\.6\.10 for [a-z0-9_-]+ \(some 50 MB\), once\n$/);
  await Deno.remove(`${box.folder}/wheels`, { recursive: true });
  const second = await box.run([...noNetwork, tool, "run", "a b"], { cwd: `${box.folder}/elsewhere` });
  assert.deepEqual(second, { ...first, stderr: "" });
});

testWhen(missing, "tools/deno refuses a Deno with a wrong checksum and keeps nothing of it", async () => {
  await using box = await Sandbox.make({ sha256: "0".repeat(64) });
  const { code, stdout, stderr } = await box.run([`${box.checkout}/tools/deno`, "--version"]);
  assert.equal(code, 1);
  assert.equal(stdout, "");
  // The release, and after it the wheel.
  assert.equal(stderr.match(new RegExp(`SHA-256 ${sha256Of(FAKE_DENO)}, wanted is 0{64}`, "g"))?.length, 2, stderr);
  assert.match(stderr, /^error: The checksum of the Deno that was downloaded is wrong/m);
  assert.deepEqual(await box.kept(), []);
});

testWhen(missing, "tools/deno started several times at once gets one whole Deno", async () => {
  await using box = await Sandbox.make();
  const runs = await Promise.all([1, 2, 3].map(() => box.run([`${box.checkout}/tools/deno`, "--version"])));
  assert.deepEqual(runs.map(({ stdout }) => stdout), Array(3).fill("deno 2.6.10 (fake)\n"));
  assert.deepEqual(await box.kept(), ["deno"]);
});

testWhen(
  missing,
  "tools/deno takes a deno of the same version on PATH, but not itself and no other version",
  async () => {
    await using box = await Sandbox.make();
    const tool = `${box.checkout}/tools/deno`;
    await box.program("bin/deno", FAKE_DENO);
    assert.equal((await box.run([tool, "--version"])).stderr, "");
    await box.program("bin/deno", FAKE_DENO.replace("2.6.10", "2.6.1"));
    assert.match((await box.run([tool, "--version"])).stderr, /getting Deno/);
    await Deno.remove(`${box.checkout}/.cache`, { recursive: true });
    const path = `${box.checkout}/tools:${box.folder}/bin:${Deno.env.get("PATH")}`;
    assert.equal((await box.run([tool, "--version"], { env: { PATH: path } })).stdout, "deno 2.6.10 (fake)\n");
  },
);

testWhen(missing, "tools/deno gets the packages of tasks quietly, once for each deno.lock", async () => {
  await using box = await Sandbox.make();
  const task = async (lock: string) => {
    await Deno.writeTextFile(`${box.checkout}/deno.lock`, lock);
    const { stdout, stderr } = await box.run([`${box.checkout}/tools/deno`, "task", "compile"]);
    assert.match(stdout, /\|task\|compile\|$/);
    return stderr.split("\n").at(-2) ?? "";
  };
  const said = "tools/deno: getting packages, once";
  assert.deepEqual([await task("1"), await task("1"), await task("2")], [said, "", said]);
  const installed = await Deno.readTextFile(`${box.checkout}/.cache/deno-dir/installed`);
  assert.equal(installed, `${box.checkout} install --quiet\n`.repeat(2));
});

testWhen(missing, "tools/deno says what to do if it cannot write, or knows no such version", async () => {
  await using box = await Sandbox.make();
  const tool = `${box.checkout}/tools/deno`;
  await Deno.writeTextFile(`${box.checkout}/.cache`, "a file in the way");
  const blocked = await box.run([tool, "--version"]);
  assert.equal(blocked.code, 1);
  assert.match(blocked.stderr, /^error: Cannot write the folder ".*"[^]*MESH_CACHE/);
  const unknown = await box.run([tool, "--version"], { env: { MESH_DENO: "1.2.3", MESH_CACHE: box.folder } });
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /^error: No Deno "1\.2\.3" is pinned/);
});

testWhen(missing, "tools/deno says where to get Deno if no source works", async () => {
  await using box = await Sandbox.make({ hasRelease: false });
  const { code, stderr } = await box.run([`${box.checkout}/tools/deno`, "--version"], { env: { PIP_FIND_LINKS: "" } });
  assert.equal(code, 1);
  assert.match(stderr, /^error: Cannot get Deno 2\.6\.10[^]*HTTPS_PROXY/m);
});

testWhen(
  missing,
  "plugin/kubectl-mesh keeps the caller's folder, passes its name, and works through links",
  async () => {
    await using box = await Sandbox.make();
    await Deno.symlink("../check out/plugin/kubectl-mesh", `${box.folder}/elsewhere/hop`);
    await Deno.symlink("hop", `${box.folder}/elsewhere/pilot-agent`);
    const { code, stdout, stderr } = await box.run(["./pilot-agent", "wait", "a b"], {
      cwd: `${box.folder}/elsewhere`,
    });
    assert.equal(code, 7, stderr);
    const [cwd, name, , ...args] = stdout.split("|");
    assert.deepEqual([cwd, name], [`${box.folder}/elsewhere`, "pilot-agent"]);
    assert.equal(args.includes(`${box.checkout}/src/main.ts`), true);
    assert.deepEqual(args.slice(-3), ["wait", "a b", ""]);
  },
);

testWhen(
  needsProgram("sh"),
  "plugin/kubectl-mesh runs from a link in a path with spaces, without network",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "mesh plugin " });
    try {
      await Deno.symlink(`${ROOT}/plugin/kubectl-mesh`, `${folder}/kubectl-mesh`);
      await run([`${folder}/kubectl-mesh`, "version"], { cwd: folder });
      const { code, stdout, stderr } = await run([...noNetwork, `${folder}/kubectl-mesh`, "version"], { cwd: folder });
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^kubectl-mesh \d/);
      assert.equal(stderr, "");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);
