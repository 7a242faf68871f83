/**
 * Builds an image from its record: one layer for Debian's files, one for a few small files, and one for each program.
 */
import packages from "../../image/packages.json" with { type: "json" };
import { type Architecture, type Debian, packageEntries, type Pins } from "./debian.ts";
import type { Entry } from "./entry.ts";
import { FILES, type Image, type Program } from "./images.ts";
import { type Layer, layerOf } from "./layer.ts";

const PINS: Readonly<Record<string, Pins>> = packages;

/** The processor in the header of an ELF program (`e_machine`). Source: elf(5). */
const MACHINES: Readonly<Record<Architecture, number>> = { amd64: 62, arm64: 183 };

/** The files of one layer, with its title. */
export interface Part {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The paths of the program files on this machine. */
export type Programs = Partial<Readonly<Record<Program, string>>>;

/**
 * Returns the parts of an image. Throws if a package or a program is missing, or if a program is for a different
 * processor.
 */
export async function partsOf(image: Image, programs: Programs, source: Debian): Promise<Part[]> {
  const found = await Promise.all(
    Object.entries(pinsOf(source.architecture, image)).map(async ([name, pinned]) => {
      return { title: `${name} ${pinned.version}`, entries: await packageEntries(name, pinned, source) };
    }),
  );
  const debian = {
    title: found.map(({ title }) => title).join(", "),
    entries: found.flatMap(({ entries }) => entries),
  };
  const own = Object.entries(image.programs).map(async ([path, program]) => {
    const file = programs[program];
    if (file === undefined) throw new Error(`The path of ${program} is missing: see --${program}`);
    const content = await readProgram(file, source.architecture);
    return { title: program, entries: [{ path, mode: 0o755, content }] };
  });
  return [debian, { title: "users, folders, names", entries: smallEntries(image) }, ...await Promise.all(own)];
}

/** Reads a program. Throws if it is for a different processor. */
export async function readProgram(file: string, architecture: Architecture): Promise<Uint8Array<ArrayBuffer>> {
  const content = await Deno.readFile(file);
  const isElf = content.length > 20 && new DataView(content.buffer).getUint32(0) === 0x7f454c46;
  if (isElf && new DataView(content.buffer).getUint16(18, true) === MACHINES[architecture]) return content;
  throw new Error(`"${file}" is not a program for ${architecture}`);
}

/**
 * Returns the packages of the images, at the versions in image/packages.json. Throws if a package is missing there for
 * the architecture.
 */
export function pinsOf(architecture: Architecture, ...images: readonly Image[]): Pins {
  return Object.fromEntries(
    images.flatMap(({ packages }) => packages).map((name) => {
      const pinned = PINS[architecture]?.[name];
      if (pinned !== undefined) return [name, pinned];
      throw new Error(
        `image/packages.json has no "${name}" for ${architecture}: run this with --update-packages --arch ${architecture}`,
      );
    }),
  );
}

function smallEntries({ links, writable, user }: Image): Entry[] {
  const owner = Number(user.split(":")[0]);
  return [
    ...Object.entries(FILES).map(([path, text]) => ({ path, content: new TextEncoder().encode(text) })),
    ...Object.entries(links).map(([path, target]) => ({ path, target })),
    ...writable.map((path) => ({ path, owner })),
    { path: "tmp", mode: 0o1777 },
    // The container runtime mounts these folders.
    ...["proc", "sys", "dev", "run"].map((path) => ({ path })),
  ];
}

/** Compresses each part into a layer. */
export async function layersOf(parts: readonly Part[], seconds: number): Promise<Layer[]> {
  const layers: Layer[] = [];
  // One after the other, because each layer holds its files in memory twice.
  for (const { title, entries } of parts) layers.push(await layerOf(title, entries, seconds));
  return layers;
}
