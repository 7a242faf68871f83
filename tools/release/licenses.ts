import { namesIn } from "../compile/source_state.ts";
import { RUNTIME_VERSION } from "../compile/platforms.ts";
import type { NpmPackage } from "./sbom.ts";

/** The file with the licences of the libraries in a binary. */
export const THIRD_PARTY = "THIRD_PARTY_LICENSES";

/** Names of the files that contain the licence and notices of a package. */
const LICENSE_FILE = /^(un)?licen[cs]e|^copying|^notice|^copyright/i;

/**
 * Licence texts for the runtime, and for packages that do not contain one: `tools/release/licenses/NAME.txt`, with `+`
 * in place of slashes.
 */
const TEXTS = "tools/release/licenses";

/** Returns the heading above the licence texts of a component. */
export function headingOf({ name, version }: Pick<NpmPackage, "name" | "version">): string {
  return `===== ${name} ${version}`;
}

/**
 * Returns the licence texts of the runtime and of npm packages, in the order of `packages`. `root` is the checkout,
 * `cache` is the npm folder in Deno's cache. Throws if a package has no licence text.
 */
export async function thirdPartyLicenses(
  packages: readonly NpmPackage[],
  root: string,
  cache: string,
): Promise<string> {
  const kept = (name: string) => Deno.readTextFile(`${root}/${TEXTS}/${name.replace("/", "+")}.txt`);
  const sections = [
    "kubectl-mesh contains the runtime Deno with V8, and these packages of npm. Libraries in Deno and V8 have notices in the\n" +
    `sources of Deno ${RUNTIME_VERSION}: its Cargo.lock names them.\n`,
    section({ name: "deno", version: RUNTIME_VERSION }, await kept("deno")),
    section({ name: "v8", version: `of Deno ${RUNTIME_VERSION}` }, await kept("v8")),
  ];
  for (const each of packages) {
    const own = await textsOf(each, cache);
    const texts = own.length > 0 ? own : [
      await kept(each.name).catch((error: unknown) => {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        throw new Error(`${each.name} ${each.version} contains no licence: put its text into ${TEXTS}`);
      }),
    ];
    sections.push(section(each, texts.join("\n")));
  }
  return sections.join("\n");
}

function section(component: Pick<NpmPackage, "name" | "version">, text: string): string {
  return `${headingOf(component)}\n\n${text.replaceAll("\r\n", "\n").trim()}\n`;
}

async function textsOf({ name, version }: NpmPackage, cache: string): Promise<string[]> {
  for (const registry of await namesIn(cache)) {
    const folder = `${cache}/${registry}/${name}/${version}`;
    const names = await namesIn(folder).catch((error: unknown) => {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    });
    if (names === undefined) continue;
    return await Promise.all(
      names.filter((each) => LICENSE_FILE.test(each)).map((each) => Deno.readTextFile(`${folder}/${each}`)),
    );
  }
  throw new Error(`The package ${name}@${version} is not in Deno's cache`);
}
