/** Commit of this build. `tools/compile` replaces the two placeholders, because git is not available at run time. */

/** The commit of this build, with `-dirty` if its files differed; `undefined` if the program runs from sources. */
export const COMMIT: string | undefined = filled("{{commit}}");

/** The time of that commit, such as `2026-11-23T03:10:00Z`; `undefined` if the program runs from sources. */
export const COMMIT_DATE: string | undefined = filled("{{commit date}}");

function filled(text: string): string | undefined {
  return text === "" || text.startsWith("{{") ? undefined : text;
}
