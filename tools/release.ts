/**
 * Makes a release: `tools/deno task release [FLAGS]`. Compiles the program for every platform whose runtime is
 * available, and writes to `dist/release`: an archive for each platform, Debian and RPM packages, a bill of materials,
 * provenance, checksums, a krew manifest, and a Homebrew formula. The same commit gives the same bytes on a quiet
 * machine of the same kind.
 *
 * | flag             | what it does                                                                                        |
 * |------------------|-----------------------------------------------------------------------------------------------------|
 * | `--homepage URL` | where the release will be; by default the repository of GitHub's workflow                           |
 * | `--only NAMES`   | only these platforms, such as `linux-amd64,darwin-arm64`                                            |
 * | `--with FILE`    | a further file of the release, such as the tar of the images; may be repeated                       |
 * | `--complete`     | fails if a platform has no runtime, or if files differ from the commit                              |
 */
import { parseArgs } from "node:util";
import { VERSION } from "../src/version.ts";
import { type Build, bundle, COMMAND, compileScripts, isThisMachine, sharedCaches } from "./compile/build.ts";
import { type Platform, PLATFORMS } from "./compile/platforms.ts";
import { say } from "./compile/run.ts";
import { toScripts } from "./compile/scripts.ts";
import { namesIn, sourceState } from "./compile/source_state.ts";
import { assemble } from "./release/assemble.ts";
import { THIRD_PARTY, thirdPartyLicenses } from "./release/licenses.ts";
import { npmPackages } from "./release/npm_packages.ts";
import { builderOf } from "./release/provenance.ts";
import { type Binary, type Document, document, type Release } from "./release/release.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");

/** Files beside the binary in each archive. */
const DOCUMENTS = ["LICENSE", "README.md"];

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      homepage: { type: "string" },
      only: { type: "string" },
      with: { type: "string", multiple: true, default: [] },
      complete: { type: "boolean", default: false },
    },
  });
  const platforms = chosen(values.only);
  const source = await knownSource(values.complete);
  const cache = Deno.env.get("MESH_CACHE") ?? `${ROOT}/.cache`;
  await Deno.mkdir(cache, { recursive: true });
  const build: Build = { root: ROOT, cache, work: await Deno.makeTempDir({ dir: cache, prefix: "release-" }) };
  try {
    const folder = await bundle(build);
    const npm = `${Deno.env.get("DENO_DIR") ?? `${cache}/deno-dir`}/npm`;
    const packages = await npmPackages(folder, await Deno.readTextFile(`${ROOT}/deno.lock`), npm);
    const { binaries, missing } = await compileAll(build, folder, platforms);
    if (missing.length > 0) say(`release: left out, because no runtime is available: ${missing.join(", ")}`);
    if (binaries.length === 0 || (values.complete && missing.length > 0)) return 1;
    const completions = (await namesIn(`${ROOT}/completions`)).map((name) => `completions/${name}`);
    const licenses = document(THIRD_PARTY, await thirdPartyLicenses(packages, ROOT, npm));
    const own = await Promise.all(
      [...DOCUMENTS, ...completions].map((name) => documentOf(`${ROOT}/${name}`, name)),
    );
    const documents = [...own, licenses];
    const homepage = values.homepage ?? homepageOf((name) => Deno.env.get(name));
    const files = await assemble({ version: VERSION, source, homepage, binaries, documents }, {
      root: ROOT,
      work: `${build.work}/packages`,
      packages,
      builder: builderOf((name) => Deno.env.get(name)),
      others: await Promise.all(values.with.map((path) => documentOf(path))),
    });
    await write(`${ROOT}/dist/release`, files);
    return 0;
  } finally {
    await Deno.remove(build.work, { recursive: true });
  }
}

async function knownSource(isComplete: boolean): Promise<Release["source"]> {
  const { commit, seconds } = await sourceState(ROOT);
  if (commit.endsWith("-dirty") && isComplete) throw new Error("Files differ from the commit: commit them first");
  if (seconds !== undefined) return { commit, seconds };
  throw new Error("No time of the commit is known: run it in a checkout, or set SOURCE_DATE_EPOCH");
}

function chosen(only: string | undefined): readonly Platform[] {
  if (only === undefined) return PLATFORMS;
  return only.split(",").map((name) => {
    const found = PLATFORMS.find((each) => each.name === name);
    if (found !== undefined) return found;
    throw new Error(`No platform "${name}": there are ${PLATFORMS.map((each) => each.name).join(", ")}`);
  });
}

/** If no repository is known, the links point to example.com, and a message says so. */
function homepageOf(env: (name: string) => string | undefined): string {
  const [server, repository] = [env("GITHUB_SERVER_URL"), env("GITHUB_REPOSITORY")];
  if (server !== undefined && repository !== undefined) return `${server}/${repository}`;
  say("release: no repository is known, so links in the manifests lead to example.com; see --homepage");
  return "https://example.com/kubectl-mesh";
}

async function compileAll(build: Build, folder: string, platforms: readonly Platform[]) {
  const scripts = await toScripts(folder);
  const caches = platforms.some(isThisMachine)
    ? await sharedCaches(build, scripts, Deno.env.get("MESH_CODE_CACHES"))
    : undefined;
  const binaries: Binary[] = [];
  const missing: string[] = [];
  for (const platform of platforms) {
    const output = `${build.work}/out/${platform.name}`;
    try {
      await compileScripts(build, scripts, { variant: COMMAND, platform, output }, caches);
      binaries.push({ platform, content: await Deno.readFile(output) });
    } catch (error) {
      missing.push(platform.name);
      say(`release: cannot compile for ${platform.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { binaries, missing };
}

async function documentOf(path: string, name = path.replace(/^.*\//, "")): Promise<Document> {
  return { name, content: await Deno.readFile(path) };
}

async function write(folder: string, files: readonly Document[]): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
  for (const { name, content } of files) {
    await Deno.writeFile(`${folder}/${name}`, content);
    say(`release: ${folder}/${name}: ${(content.length / 1e6).toFixed(1)} MB`);
  }
}

try {
  Deno.exit(await main(Deno.args));
} catch (error) {
  say(`error: ${error instanceof Error ? error.message : String(error)}`);
  Deno.exit(1);
}
