/** How other programs write a certificate, its key and its roots into a folder. */

/** Writes all files, over the files of the turn before. The first turn is 0. */
export type Writer = (folder: string, files: Readonly<Record<string, string>>, turn: number) => Promise<void>;

/** Writers by their names in docs/reliability.md. */
export const WRITERS = {
  /** As the kubelet: each file is a link into `..data`, a link that switches to the folder of the new version. */
  async projected(folder, files, turn) {
    const version = `..version_${turn}`;
    await writeAll(`${folder}/${version}`, files);
    await link(version, `${folder}/..data`);
    if (turn > 0) return await Deno.remove(`${folder}/..version_${turn - 1}`, { recursive: true });
    for (const name of Object.keys(files)) await Deno.symlink(`..data/${name}`, `${folder}/${name}`);
  },
  /** A link for each file, one after the other: certificate and key do not match in between. */
  async "symlink swap"(folder, files, turn) {
    await writeAll(`${folder}/version_${turn}`, files);
    for (const name of Object.keys(files)) await link(`version_${turn}/${name}`, `${folder}/${name}`);
    if (turn > 0) await Deno.remove(`${folder}/version_${turn - 1}`, { recursive: true });
  },
  /** Each file complete under another name, then renamed. */
  async "plain rename"(folder, files) {
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${name}.new`, text);
      await Deno.rename(`${folder}/${name}.new`, `${folder}/${name}`);
    }
  },
  /** Each file truncated and written in two parts: a reader sees half of it in between. */
  async "in-place write"(folder, files) {
    for (const [name, text] of Object.entries(files)) {
      using file = await Deno.open(`${folder}/${name}`, { write: true, create: true, truncate: true });
      const writer = file.writable.getWriter();
      for (const part of [text.slice(0, text.length / 2), text.slice(text.length / 2)]) {
        await writer.write(new TextEncoder().encode(part));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      writer.releaseLock();
    }
  },
} as const satisfies Readonly<Record<string, Writer>>;

/** The name of a writer. */
export type WriterName = keyof typeof WRITERS;

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await Deno.mkdir(folder);
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
}

/** Makes or changes a link atomically. */
async function link(target: string, path: string): Promise<void> {
  await Deno.symlink(target, `${path}.new`);
  await Deno.rename(`${path}.new`, path);
}
