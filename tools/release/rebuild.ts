/** Compares builds of a commit, and chooses the build to publish. */

/**
 * Makes a build of the release and returns the text of its checksums. Uses the code caches in folder `caches` if it
 * exists; otherwise saves the new ones there.
 */
export type Build = (name: string, caches: string) => Promise<string>;

/**
 * Builds twice, independently, and returns the name of a build that was reproduced. If the two builds differ, the
 * second is repeated with the code caches of the first: it must then give the same bytes, so that the code caches are
 * the only difference. They depend on the load of the machine (docs/decisions/build.md), so a third independent build
 * decides. Throws if anything else differs, or if no two builds agree.
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

/** Returns the names of files whose lines differ between two outputs of `sha256sum`. */
function differing(one: string, other: string): string[] {
  const [lines, others] = [one, other].map((text) => new Set(text.trimEnd().split("\n")));
  const only = [...lines ?? []].filter((line) => !others?.has(line));
  const onlyOther = [...others ?? []].filter((line) => !lines?.has(line));
  return [...new Set([...only, ...onlyOther].map((line) => line.replace(/^\S+ +/, "")))].sort();
}
