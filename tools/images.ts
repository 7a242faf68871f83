/**
 * Assembles the images without a container engine: an OCI layout in `dist/images/NAME`, and its archive `NAME.tar`.
 * The same inputs give the same bytes. Prints one line for each image: the digest of its manifest, and the size of its
 * layers and files.
 *
 * | flags                                   | what                                                              |
 * |-----------------------------------------|-------------------------------------------------------------------|
 * | `NAME...`                               | these images: proxy, init, webhook; all by default                |
 * | `--mesh-agent FILE`                     | the program of pods, by default dist/agent/mesh-agent, of another |
 * |                                         | processor dist/agent/mesh-agent-linux-ARCH (`compile --all`)      |
 * | `--kubectl-mesh FILE`                   | the program of the webhook, by default dist/kubectl-mesh likewise |
 * | `--envoy FILE`                          | Envoy, for the proxy                                              |
 * | `--arch amd64\|arm64`                   | for this processor; by default this machine's                    |
 * | `--out FOLDER`                          | in place of dist/images, of another processor dist/images-ARCH    |
 * | `--update-packages`                     | pins Debian's packages of today in image/packages.json, and stops |
 *
 * SOURCE_DATE_EPOCH sets the time of all files; the default is the time of the commit.
 */
import { parseArgs } from "node:util";
import { packTar } from "modern-tar";
import config from "../deno.json" with { type: "json" };
import { layersOf, partsOf } from "./images/assemble.ts";
import { type Architecture, type Debian, OWN, pinsOfToday } from "./images/debian.ts";
import { writeTree } from "./images/entry.ts";
import { type Image, IMAGES } from "./images/images.ts";
import { layoutOf, type Release } from "./images/oci.ts";
import { run, say } from "./compile/run.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
const FOLDER = `${Deno.env.get("MESH_CACHE") ?? `${ROOT}/.cache`}/debian`;

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      "arch": { type: "string", default: OWN },
      "mesh-agent": { type: "string" },
      "kubectl-mesh": { type: "string" },
      "envoy": { type: "string" },
      "out": { type: "string" },
      "update-packages": { type: "boolean" },
    },
  });
  const architecture = architectureOf(values.arch);
  const debian = { folder: FOLDER, architecture };
  if (values["update-packages"]) return await updatePackages(debian);
  const isOwn = architecture === OWN;
  const built = isOwn ? "" : `-linux-${architecture}`;
  const { out = `${ROOT}/dist/images${isOwn ? "" : `-${architecture}`}`, envoy } = values;
  const programs = {
    "mesh-agent": values["mesh-agent"] ?? `${ROOT}/dist/agent/mesh-agent${built}`,
    "kubectl-mesh": values["kubectl-mesh"] ?? `${ROOT}/dist/kubectl-mesh${built}`,
    ...envoy === undefined ? {} : { envoy },
  };
  const release = await releaseOf(architecture);
  const all: Readonly<Record<string, Image>> = IMAGES;
  for (const name of positionals.length > 0 ? positionals : Object.keys(IMAGES)) {
    const image = all[name];
    if (image === undefined) {
      throw new Error(`There is no image "${name}": there are ${Object.keys(IMAGES).join(", ")}`);
    }
    const layers = await layersOf(await partsOf(image, programs, debian), release.seconds);
    const files = [...layoutOf(image, layers, release)].map(([path, content]) => ({ path, content }));
    await Deno.remove(`${out}/${name}`, { recursive: true }).catch(() => {});
    await Deno.mkdir(`${out}/${name}`, { recursive: true });
    await writeTree(`${out}/${name}`, files);
    await Deno.writeFile(`${out}/${name}.tar`, await archiveOf(files, release));
    const megabytes = (sizes: readonly number[]) => (sizes.reduce((sum, size) => sum + size, 0) / 1e6).toFixed(1);
    const sizes = [layers.map(({ blob }) => blob.length), layers.map(({ size }) => size)].map(megabytes);
    say(`images: ${out}/${name}: ${sizes[0]} MB compressed, ${sizes[1]} MB`);
  }
  return 0;
}

/** Packs the layout into one file, which container engines can load. */
async function archiveOf(files: readonly { path: string; content: Uint8Array }[], { seconds }: Release) {
  const mtime = new Date(seconds * 1000);
  return await packTar(
    files.toSorted((a, b) => a.path < b.path ? -1 : 1).map(({ path, content }) => ({
      header: { name: path, size: content.length, type: "file" as const, mode: 0o644, uid: 0, gid: 0, mtime },
      body: content,
    })),
  );
}

function architectureOf(name: string): Architecture {
  if (name === "amd64" || name === "arm64") return name;
  throw new Error(`No architecture "${name}": there are amd64, arm64`);
}

async function releaseOf(architecture: Architecture): Promise<Release> {
  const commit = await run(["git", "-C", ROOT, "log", "-1", "--format=%H %ct"]);
  const [revision = "", time = "0"] = commit.ok ? commit.text.trim().split(" ") : [];
  const seconds = Number(Deno.env.get("SOURCE_DATE_EPOCH") ?? time);
  return { version: config.version, revision, architecture, seconds };
}

async function updatePackages(debian: Debian): Promise<number> {
  const file = `${ROOT}/image/packages.json`;
  const names = new Set(Object.values(IMAGES).flatMap(({ packages }): readonly string[] => packages));
  const known = JSON.parse(await Deno.readTextFile(file));
  const pins = { ...known, [debian.architecture]: await pinsOfToday([...names], debian) };
  await Deno.writeTextFile(file, `${JSON.stringify(pins, null, 2)}\n`);
  return 0;
}

Deno.exit(
  await main(Deno.args).catch((error: unknown) => {
    say(`images: ${error instanceof Error ? error.message : error}`);
    return 1;
  }),
);
