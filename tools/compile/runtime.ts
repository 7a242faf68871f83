import { elfLength } from "./elf.ts";
import { withFixedTemporary } from "./fixed_temporary.ts";
import { withoutProgram } from "./macho.ts";
import { type Platform, RUNTIME_VERSION, WHEEL } from "./platforms.ts";
import { say } from "./run.ts";
import { checked, programInWheel, saveProgram, sha256OfFile } from "./wheel.ts";

/**
 * Returns the path of the Deno runtime (`denort`) for a platform, for the variable `DENORT_BIN` of `deno compile`.
 * With it, `deno compile` downloads nothing, which it would do without checking a checksum. The cache only accepts and
 * returns bytes with the pinned SHA-256. Throws if this Deno is not the pinned version, if the download fails, or if
 * its checksum is wrong.
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
 * Returns the runtime for `deno compile`: on Linux a changed copy in `folder` (see {@link withFixedTemporary}),
 * elsewhere the cached file. The file in the cache keeps its pinned bytes. Throws as {@link runtimeFor} does.
 */
export async function preparedRuntime(platform: Platform, cache: string, folder: string): Promise<string> {
  const runtime = await runtimeFor(platform, cache);
  if (platform.format !== "elf") return runtime;
  const prepared = `${folder}/denort-${platform.name}`;
  await Deno.writeFile(prepared, withFixedTemporary(checked(await Deno.readFile(runtime), platform.sha256)));
  return prepared;
}

/** Extracts the runtime from a program made by `deno compile`, by format. */
const RUNTIME_OF: Readonly<Record<Platform["format"], (program: Uint8Array) => Uint8Array>> = {
  elf: (program) => program.subarray(0, elfLength(program)),
  macho: withoutProgram,
  // The whole executable can be used: `deno compile` replaces the program in it.
  pe: (program) => program,
};

/**
 * The wheel is the only source: for some platforms Deno's own release has different bytes, whose checksums are not
 * pinned here.
 */
async function fromWheel({ wheel, extension, format }: Platform): Promise<Uint8Array> {
  say(
    `compile: downloading Deno's runtime for ${wheel} from the Python wheel ${WHEEL.name} ${WHEEL.version}, a program that ` +
      "contains it; its SHA-256 is pinned (docs/decisions/build.md)",
  );
  const program = await programInWheel({
    requirement: `${WHEEL.name}==${WHEEL.version}`,
    platform: wheel,
    file: `/scripts/${WHEEL.file}${extension}`,
  });
  return RUNTIME_OF[format](program);
}
