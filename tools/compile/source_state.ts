import { run } from "./run.ts";

/** The sources that a program is built from. */
export interface SourceState {
  /** The commit, with `-dirty` appended if files differ from it; `""` if this is not a git checkout. */
  readonly commit: string;
  /**
   * The time of the commit, or SOURCE_DATE_EPOCH (reproducible-builds.org), in seconds; `undefined` if neither is
   * known.
   */
  readonly seconds: number | undefined;
}

/** Asks git for the state of a checkout. Throws if SOURCE_DATE_EPOCH is not a number of seconds. */
export async function sourceState(root: string, epoch = Deno.env.get("SOURCE_DATE_EPOCH")): Promise<SourceState> {
  const git = async (...args: string[]) => {
    const { ok, text } = await run(["git", "-C", root, ...args]);
    return ok ? text.trim() : undefined;
  };
  // If the checkout is a folder inside another repository, the commit of that repository says nothing about it.
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
 * Writes the state into the bundle in a folder, in place of the placeholders in `src/build.ts`. Throws if a placeholder
 * does not occur exactly once.
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

/** Replaces a placeholder in a file and returns how often it occurred. */
async function fillInFile(file: string, place: string, text: string): Promise<number> {
  const parts = (await Deno.readTextFile(file)).split(`"${place}"`);
  if (parts.length > 1) await Deno.writeTextFile(file, parts.join(`"${text}"`));
  return parts.length - 1;
}

/** The names of the files in a folder, sorted, because each file system has its own order. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
}

/** Formats a time as `2026-11-23T03:10:00Z`. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000", "");
}
