import { run } from "./run.ts";

/** Which sources a program is built from. */
export interface SourceState {
  /** The commit, with `-dirty` behind it if files differ from it; `""` if there is no git. */
  readonly commit: string;
  /** The time of the commit, or SOURCE_DATE_EPOCH (reproducible-builds.org), in seconds; `undefined` without either. */
  readonly seconds: number | undefined;
}

/** Asks git about a checkout. Errors: SOURCE_DATE_EPOCH is no number of seconds. */
export async function sourceState(root: string, epoch = Deno.env.get("SOURCE_DATE_EPOCH")): Promise<SourceState> {
  const git = async (...args: string[]) => {
    const { ok, text } = await run(["git", "-C", root, ...args]);
    return ok ? text.trim() : undefined;
  };
  // A checkout inside another repository is not that repository's.
  const isOwn = await git("rev-parse", "--show-prefix") === "";
  const [commit, time, changes] = isOwn
    ? await Promise.all([git("rev-parse", "HEAD"), git("log", "-1", "--format=%ct"), git("status", "--porcelain")])
    : [];
  return {
    commit: commit === undefined ? "" : changes === "" ? commit : `${commit}-dirty`,
    seconds: secondsOf(epoch === undefined || epoch === "" ? time : epoch),
  };
}

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,11}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new Error(`SOURCE_DATE_EPOCH is "${text}": it must be a number of seconds`);
}

/**
 * Writes the state into the bundle in a folder, in place of the texts of `src/build.ts`. Errors: they are not there, or
 * more than once.
 */
export async function fillIn(folder: string, { commit, seconds }: SourceState): Promise<void> {
  const texts = { "{{commit}}": commit, "{{commit date}}": seconds === undefined ? "" : isoTime(seconds) };
  for (const [place, text] of Object.entries(texts)) {
    const parts = await Promise.all(
      (await namesIn(folder)).map((name) => fillInFile(`${folder}/${name}`, place, text)),
    );
    const count = parts.reduce((sum, each) => sum + each, 0);
    if (count !== 1) throw new Error(`The bundle has ${count} places for ${place}, not one`);
  }
}

/** The number of places. */
async function fillInFile(file: string, place: string, text: string): Promise<number> {
  const parts = (await Deno.readTextFile(file)).split(`"${place}"`);
  if (parts.length > 1) await Deno.writeTextFile(file, parts.join(`"${text}"`));
  return parts.length - 1;
}

/** The files of a folder in an order that does not depend on the file system. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
}

/** `2026-11-23T03:10:00Z`. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000", "");
}
