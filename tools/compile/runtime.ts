import { elfLength } from "./elf.ts";
import { withFixedTemporary } from "./fixed_temporary.ts";
import { withoutProgram } from "./macho.ts";
import { type Platform, RUNTIME_VERSION, WHEEL } from "./platforms.ts";
import { say } from "./run.ts";
import { checked, programInWheel, saveProgram, sha256OfFile } from "./wheel.ts";

/**
 * The Deno runtime (`denort`) for a platform, as a file for the variable `DENORT_BIN` of `deno compile`, which downloads nothing then:
 * what it would download, it would not check. Only bytes with the pinned SHA-256 come into the cache, and are taken from it.
 * Errors: the Deno that runs is not the pinned one, the download fails, or its checksum is wrong.
 */
export async function runtimeFor(platform: Platform, cache: string, download = fromWheel): Promise<string> {
  const file = `${cache}/denort/${RUNTIME_VERSION}/${platform.name}/denort`;
  if (Deno.version.deno !== RUNTIME_VERSION) {
    throw new Error(`Runtimes are pinned for Deno ${RUNTIME_VERSION}, this is ${Deno.version.deno}: unset MESH_DENO`);
  }
  if (await sha256OfFile(file) === platform.sha256) return file;
  await saveProgram(file, checked(await download(platform), platform.sha256));
  return file;
}

/**
 * The runtime as `deno compile` gets it, in a file of `folder`; see {@link withFixedTemporary}. The cache keeps the bytes of the pin.
 * Errors as {@link runtimeFor}.
 */
export async function preparedRuntime(platform: Platform, cache: string, folder: string): Promise<string> {
  const runtime = await runtimeFor(platform, cache);
  if (platform.format !== "elf") return runtime;
  const prepared = `${folder}/denort-${platform.name}`;
  await Deno.writeFile(prepared, withFixedTemporary(checked(await Deno.readFile(runtime), platform.sha256)));
  return prepared;
}

/** Extracts the runtime from a program of `deno compile`. */
const RUNTIME_OF: Readonly<Record<Platform["format"], (program: Uint8Array) => Uint8Array>> = {
  elf: (program) => program.subarray(0, elfLength(program)),
  macho: withoutProgram,
  // The whole executable serves: `deno compile` replaces what it holds.
  pe: (program) => program,
};

/** The release of Deno has other bytes for some platforms, and its checksums are not known here: the wheel is the only source. */
async function fromWheel({ wheel, extension, format }: Platform): Promise<Uint8Array> {
  say(
    `compile: downloading Deno's runtime for ${wheel}: package indexes have it at the start of a program, in the Python ` +
      `wheel ${WHEEL.name} ${WHEEL.version}; its SHA-256 is pinned`,
  );
  const program = await programInWheel({
    requirement: `${WHEEL.name}==${WHEEL.version}`,
    platform: wheel,
    file: `/scripts/${WHEEL.file}${extension}`,
  });
  return RUNTIME_OF[format](program);
}
