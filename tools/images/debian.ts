/** Reads files from Debian packages, at the versions in `image/packages.json`. */
import { createHash } from "node:crypto";
import { unpackTar } from "modern-tar";
import { mustRun } from "../compile/run.ts";
import type { Entry } from "./entry.ts";

/** A package with its pinned version. */
export interface Pinned {
  readonly version: string;
  /** SHA-256 of the `.deb` file. */
  readonly sha256: string;
}

/** The pinned packages for an architecture, by name. */
export type Pins = Readonly<Record<string, Pinned>>;

/** The name of an architecture, which is the same in Go and Debian. */
export type Architecture = "amd64" | "arm64";

/** The architecture of this machine. */
export const OWN: Architecture = Deno.build.arch === "aarch64" ? "arm64" : "amd64";

/** Which packages to download, and the folder that keeps them. */
export interface Debian {
  readonly folder: string;
  readonly architecture: Architecture;
}

/**
 * The files of a package that go into an image: libraries, programs that capture traffic, licences. Shell scripts are
 * left out, because the image has no shell.
 */
const KEPT: readonly RegExp[] = [
  /^lib(64)?\/.+/,
  /^usr\/lib\/[^/]+-linux-gnu\/(?!gconv\/|audit\/).*\.so/,
  /^usr\/sbin\/(xtables-(nft|legacy)-multi|ip6?tables-(nft|legacy)(-save|-restore)?|nft)$/,
  /^usr\/share\/doc\/[^/]+\/copyright$/,
];
const AUTHORITY = /^usr\/share\/ca-certificates\/mozilla\/.*\.crt$/;

/**
 * Returns the entries for a package: its files, its certificate authorities as one bundle, and its dpkg record for
 * scanners, in the same place as in distroless images.
 */
export async function packageEntries(name: string, pinned: Pinned, debian: Debian): Promise<Entry[]> {
  const file = await packageFile(name, pinned, debian);
  const archive = await output("dpkg-deb", ["--fsys-tarfile", file]);
  const all = (await unpackTar(archive)).map(({ header, data }): Entry & { type: string } => ({
    path: header.name.replace(/^\.?\//, "").replace(/\/$/, ""),
    type: header.type ?? "file",
    mode: header.mode ?? 0o644,
    ...header.type === "symlink" ? { target: header.linkname ?? "" } : { content: data ?? new Uint8Array() },
  })).filter(({ type }) => type !== "directory");
  const authorities = all.filter(({ path }) => AUTHORITY.test(path)).toSorted((a, b) => a.path < b.path ? -1 : 1);
  const bundle = authorities.map(({ content }) => new TextDecoder().decode(content)).join("");
  const control = await output("dpkg-deb", ["--field", file]);
  return [
    ...all.filter(({ path }) => KEPT.some((pattern) => pattern.test(path))).map(({ type: _, ...entry }) => entry),
    ...bundle === "" ? [] : [{ path: "etc/ssl/certs/ca-certificates.crt", content: new TextEncoder().encode(bundle) }],
    { path: `var/lib/dpkg/status.d/${name}`, content: control },
  ];
}

/**
 * Returns a message about the first package that is neither in the folder nor available from apt at its version;
 * `undefined` if all packages are available.
 */
export async function packagesGone(pins: Pins, debian: Debian): Promise<string | undefined> {
  for (const [name, { version, sha256 }] of Object.entries(pins)) {
    if (await sumOf(pathOf(name, version, debian)) === sha256) continue;
    const args = [...await aptOptions(debian), "download", "--print-uris", `${name}=${version}`];
    const { success } = await new Deno.Command("apt-get", { args, stdout: "null", stderr: "null" }).output();
    if (!success) return `apt does not offer ${name} ${version} (tools/deno task images --update-packages)`;
  }
  return undefined;
}

function pathOf(name: string, version: string, { folder, architecture }: Debian): string {
  return `${folder}/${name}_${version.replace(":", "%3a")}_${architecture}.deb`;
}

/**
 * Options that give apt its own package lists for a foreign architecture, from the same sources. The machine's own
 * lists do not change.
 */
const otherLists = new Map<string, Promise<readonly string[]>>();

function aptOptions({ folder, architecture }: Debian): Promise<readonly string[]> {
  if (architecture === OWN) return Promise.resolve([]);
  const made = otherLists.get(architecture) ?? listsOf(`${folder}/apt-${architecture}`, architecture);
  otherLists.set(architecture, made);
  return made;
}

async function listsOf(folder: string, architecture: Architecture): Promise<readonly string[]> {
  const [lists, cache] = [`${folder}/lists`, `${folder}/cache`];
  for (const each of [lists, `${cache}/archives`]) await Deno.mkdir(`${each}/partial`, { recursive: true });
  const settings = {
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "Dir::State::Lists": lists,
    "Dir::Cache": cache,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  await mustRun(["apt-get", ...options, "-q", "update"]);
  return options;
}

/**
 * Returns the path of the `.deb` file, which is downloaded on first use. Throws if apt no longer offers it, or if its
 * checksum is wrong.
 */
async function packageFile(name: string, { version, sha256 }: Pinned, debian: Debian): Promise<string> {
  const file = pathOf(name, version, debian);
  if (await sumOf(file) === sha256) return file;
  const downloaded = await download(name, version, debian);
  if (downloaded.sha256 !== sha256) {
    throw new Error(`${name} ${version} has SHA-256 ${downloaded.sha256}, wanted is ${sha256}`);
  }
  await Deno.rename(downloaded.file, file);
  return file;
}

/** Downloads a package with apt, which checks Debian's signature. */
async function download(name: string, version: string | undefined, debian: Debian) {
  const { folder } = debian;
  await Deno.mkdir(folder, { recursive: true });
  const place = await Deno.makeTempDir({ dir: folder, prefix: "apt-" });
  try {
    const wanted = version === undefined ? name : `${name}=${version}`;
    const apt = ["apt-get", ...await aptOptions(debian), "download", "-q", wanted];
    await mustRun(["sh", "-c", 'cd "$1" && shift && "$@"', "sh", place, ...apt]);
    const [found] = await Array.fromAsync(Deno.readDir(place));
    const file = `${folder}/${name}.${Deno.pid}.new`;
    await Deno.rename(`${place}/${found?.name}`, file);
    return { file, sha256: await sumOf(file) ?? "" };
  } finally {
    await Deno.remove(place, { recursive: true });
  }
}

/** Returns the packages at the versions that apt offers now. */
export async function pinsOfToday(names: readonly string[], debian: Debian): Promise<Pins> {
  const pins: Record<string, Pinned> = {};
  for (const name of names.toSorted()) {
    const { file, sha256 } = await download(name, undefined, debian);
    const version = new TextDecoder().decode(await output("dpkg-deb", ["--field", file, "Version"])).trim();
    await Deno.rename(file, pathOf(name, version, debian));
    pins[name] = { version, sha256 };
  }
  return pins;
}

async function sumOf(file: string): Promise<string | undefined> {
  try {
    return createHash("sha256").update(await Deno.readFile(file)).digest("hex");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function output(command: string, args: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], stdin: "null" }).output();
  if (!success) throw new Error(`"${command} ${args.join(" ")}" failed: ${new TextDecoder().decode(stderr).trim()}`);
  return stdout;
}
