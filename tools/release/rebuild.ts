/** Whether builds of a commit agree: what may differ, and what decides then. */

/** A build of the release. `caches` is a folder of code caches: used if it is there, else made. Returns the text of its checksums. */
export type Build = (name: string, caches: string) => Promise<string>;

/**
 * Builds twice, independently; returns the name of the build that is published, which two builds made. Where they differ, a build with
 * the code caches of the first must have its bytes: then nothing but the caches differs, which depend on the load of the machine
 * (docs/decisions/build.md), and one more independent build decides. Errors: something else differs, or no two builds agree.
 */
export async function agreed(build: Build): Promise<string> {
  const first = await build("first", "first");
  const second = await build("second", "second");
  if (first === second) return "first";
  const other = differing(first, await build("second-with-caches-of-first", "first"));
  if (other.length > 0) throw new Error(`Two builds differ in more than code caches: ${other.join(", ")}`);
  const third = await build("third", "third");
  if (third === first) return "first";
  if (third === second) return "second";
  throw new Error(`Three builds have three different code caches: ${differing(first, third).join(", ")}`);
}

/** The names of files whose lines are not the same in two texts of `sha256sum`. */
function differing(one: string, other: string): string[] {
  const [lines, others] = [one, other].map((text) => new Set(text.trimEnd().split("\n")));
  const only = [...lines ?? []].filter((line) => !others?.has(line));
  const onlyOther = [...others ?? []].filter((line) => !lines?.has(line));
  return [...new Set([...only, ...onlyOther].map((line) => line.replace(/^\S+ +/, "")))].sort();
}
