import { elfLength } from "./elf.ts";
import { withoutProgram } from "./macho.ts";
import { type Platform, RUNTIME_VERSION, WHEEL } from "./platforms.ts";
import { say } from "./run.ts";
import { checked, programInWheel, saveProgram, sha256OfFile } from "./wheel.ts";

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
  await saveProgram(file, await fromWheel(platform));
  return file;
}

async function isKept(file: string, { sha256 }: Platform): Promise<boolean> {
  return Deno.version.deno === RUNTIME_VERSION && await sha256OfFile(file) === sha256;
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

/** How a program that `deno compile` has made becomes its runtime again. */
const RUNTIME_OF: Readonly<Record<Platform["format"], (program: Uint8Array) => Uint8Array>> = {
  elf: (program) => program.subarray(0, elfLength(program)),
  macho: withoutProgram,
  // The whole executable serves: `deno compile` replaces what it holds.
  pe: (program) => program,
};

async function fromWheel({ wheel, extension, format, sha256 }: Platform): Promise<Uint8Array> {
  say(`compile: downloading the runtime in the Python wheel ${WHEEL.name} ${WHEEL.version} for ${wheel}`);
  const program = await programInWheel({
    requirement: `${WHEEL.name}==${WHEEL.version}`,
    platform: wheel,
    file: `/scripts/${WHEEL.file}${extension}`,
  });
  return checked(RUNTIME_OF[format](program), sha256);
}
