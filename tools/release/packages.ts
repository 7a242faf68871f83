import { gzipSync } from "node:zlib";
import { goProgram } from "../../test/support/programs/go_program.ts";
import { mustRun } from "../compile/run.ts";
import { isoTime, namesIn } from "../compile/source_state.ts";
import { THIRD_PARTY } from "./licenses.ts";
import { type Binary, type Document, goPlatform, type Release } from "./release.ts";

/**
 * The package formats, each with its names for the libraries that the program needs (glibc 2.27 or later, and GCC's
 * runtime), and the folder in which the zsh of its distributions looks for packaged completions.
 */
const FORMATS = {
  deb: { depends: ["libc6 (>= 2.27)", "libgcc-s1 | libgcc1"], zsh: "vendor-completions" },
  rpm: { depends: ["glibc >= 2.27", "libgcc"], zsh: "site-functions" },
} as const;

/** Returns the paths from which shells load the files in `completions/`. */
function completionsOf(zsh: string): Readonly<Record<string, string>> {
  return {
    "kubectl-mesh.bash": "/usr/share/bash-completion/completions/kubectl-mesh",
    "_kubectl-mesh": `/usr/share/zsh/${zsh}/_kubectl-mesh`,
    "kubectl-mesh.fish": "/usr/share/fish/vendor_completions.d/kubectl-mesh.fish",
  };
}

/** A file of a package, in nfpm's format. */
interface Content {
  readonly src: string;
  readonly dst: string;
  readonly type?: "symlink";
  readonly file_info?: { readonly mode: number };
}

/**
 * Makes Debian and RPM packages of the Linux binaries with nfpm. `root` is the checkout, `work` is a temporary folder.
 * All files have the time of the commit.
 */
export async function linuxPackages(release: Release, root: string, work: string): Promise<Document[]> {
  const nfpm = await goProgram("tools/release/nfpm", "github.com/goreleaser/nfpm/v2/cmd/nfpm");
  const made: Document[] = [];
  for (const binary of release.binaries.filter(({ platform }) => goPlatform(platform).os === "linux")) {
    const folder = `${work}/${binary.platform.name}`;
    const contents = [
      ...await contentsOf(binary, root, folder),
      ...await thirdParty(release, folder),
    ];
    for (const [format, { depends, zsh }] of Object.entries(FORMATS)) {
      const out = `${folder}/${format}`;
      await Deno.mkdir(out);
      const scripts = Object.entries(completionsOf(zsh)).map(([name, dst]) => file(`${root}/completions/${name}`, dst));
      const all = [...contents, ...scripts];
      await Deno.writeTextFile(`${folder}/nfpm.json`, JSON.stringify(configOf(release, binary, all, depends)));
      const epoch = { SOURCE_DATE_EPOCH: String(release.source.seconds) };
      await mustRun([nfpm, "package", "-f", `${folder}/nfpm.json`, "-p", format, "-t", `${out}/`], epoch);
      for (const name of await namesIn(out)) made.push({ name, content: await Deno.readFile(`${out}/${name}`) });
    }
  }
  return made;
}

/** The licences of the libraries in the program, if the release contains them. */
async function thirdParty({ documents }: Release, folder: string): Promise<Content[]> {
  const found = documents.find(({ name }) => name === THIRD_PARTY);
  if (found === undefined) return [];
  await Deno.writeFile(`${folder}/${THIRD_PARTY}`, found.content);
  return [file(`${folder}/${THIRD_PARTY}`, `/usr/share/doc/kubectl-mesh/${THIRD_PARTY}`)];
}

function configOf(
  { version, homepage, source }: Release,
  { platform }: Binary,
  contents: readonly Content[],
  depends: readonly string[],
): object {
  return {
    name: "kubectl-mesh",
    arch: goPlatform(platform).arch,
    platform: "linux",
    version: `v${version}`,
    version_schema: "semver",
    release: "1",
    section: "admin",
    priority: "optional",
    maintainer: `kubectl-mesh <${homepage}/issues>`,
    vendor: "kubectl-mesh",
    homepage,
    license: "Apache-2.0",
    description: "Put workloads into an Istio mesh and check it\nA plugin of kubectl, in one file.",
    mtime: isoTime(source.seconds),
    rpm: { buildhost: "localhost", group: "Applications/System" },
    depends,
    contents,
  };
}

function file(src: string, dst: string): Content {
  return { src, dst, file_info: { mode: 0o644 } };
}

/** Returns the files of every package. Files that differ from the checkout are written to `folder`. */
async function contentsOf({ content }: Binary, root: string, folder: string): Promise<Content[]> {
  await Deno.mkdir(`${folder}/man`, { recursive: true });
  await Deno.writeFile(`${folder}/kubectl-mesh`, content, { mode: 0o755 });
  const pages = (await namesIn(`${root}/docs/man`)).filter((name) => name.endsWith(".1"));
  for (const name of pages) {
    await Deno.writeFile(
      `${folder}/man/${name}.gz`,
      gzipSync(await Deno.readFile(`${root}/docs/man/${name}`), { level: 9 }),
    );
  }
  return [
    { src: `${folder}/kubectl-mesh`, dst: "/usr/bin/kubectl-mesh", file_info: { mode: 0o755 } },
    // kubectl runs a program with this name to complete commands.
    { src: "kubectl-mesh", dst: "/usr/bin/kubectl_complete-mesh", type: "symlink" },
    file(`${root}/LICENSE`, "/usr/share/doc/kubectl-mesh/copyright"),
    ...pages.map((name) => file(`${folder}/man/${name}.gz`, `/usr/share/man/man1/${name}.gz`)),
  ];
}
