import { namesIn } from "./source_state.ts";
import { mustRun, say } from "./run.ts";
import { checked, saveProgram, sha256OfFile } from "./wheel.ts";

/**
 * The esbuild version that Deno 2.6.10 uses. `deno bundle` downloads and starts esbuild without checking its checksum.
 */
const VERSION = "0.25.5";

/** SHA-256 of the program in npm's package `@esbuild/NAME`, by Deno's target. */
const PINS: Readonly<Record<string, { readonly name: string; readonly sha256: string }>> = {
  "x86_64-unknown-linux-gnu": {
    name: "linux-x64",
    sha256: "3331e0b23c99d93d9a39e436a4838de40ca1c95ac3bcbd9874ba169d8545b634",
  },
  "aarch64-unknown-linux-gnu": {
    name: "linux-arm64",
    sha256: "d6d656d9326ce1c55c01f73604a3cffda35c63cce60016e9ed795ac91cd1e67d",
  },
  "x86_64-apple-darwin": {
    name: "darwin-x64",
    sha256: "e7b2a105f88836f1e080a76180e5cd8e59d1c22f6575d63f5a77a104954c427e",
  },
  "aarch64-apple-darwin": {
    name: "darwin-arm64",
    sha256: "58d144357454bca840167171380785b133b1e5e682d0c51afa8c80158bfd3f8a",
  },
};

/** An esbuild program with a pinned checksum. */
export interface Bundler {
  readonly name: string;
  readonly sha256: string;
}

/** Returns the bundler for this machine. Throws if no bundler is pinned for it. */
export function thisBundler(): Bundler {
  const found = PINS[Deno.build.target];
  if (found !== undefined) return found;
  throw new Error(`No bundler is pinned for ${Deno.build.target}: see tools/compile/bundler.ts`);
}

/**
 * Downloads the bundler into Deno's cache folder `cache` if it is missing there, and checks its SHA-256. Throws if the
 * checksum is wrong; a cached file with a wrong checksum is removed first, so that Deno does not start it.
 */
export async function checkBundler(cache: string, bundler = thisBundler(), download = fromNpm): Promise<void> {
  const file = `${cache}/dl/esbuild-${VERSION}/esbuild-${bundler.name}`;
  const found = await sha256OfFile(file);
  if (found === bundler.sha256) return;
  if (found !== undefined) {
    await Deno.remove(file);
    throw new Error(`"${file}" has SHA-256 ${found} instead of ${bundler.sha256}. The file is removed: build again`);
  }
  await saveProgram(file, checked(await download(bundler.name), bundler.sha256));
}

/** Downloads the package with Deno, which checks it only against the checksum in the registry's own record. */
async function fromNpm(name: string): Promise<Uint8Array> {
  say(`compile: downloading esbuild ${VERSION} for ${name}`);
  const cache = await Deno.makeTempDir({ prefix: "esbuild-" });
  try {
    const wanted = `npm:@esbuild/${name}@${VERSION}`;
    await mustRun([Deno.execPath(), "cache", "--quiet", "--no-config", "--no-lock", wanted], { DENO_DIR: cache });
    const [registry] = await namesIn(`${cache}/npm`);
    return await Deno.readFile(`${cache}/npm/${registry}/@esbuild/${name}/${VERSION}/bin/esbuild`);
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
}
