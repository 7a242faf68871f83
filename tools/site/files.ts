/** Reads the pages of the checkout as the sources of the site. */
import type { Sources } from "./book.ts";

/** The folder of the checkout. */
export const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

const FOLDERS = ["", "docs/", "docs/decisions/"];

/** Reads all Markdown pages, and finds the other files of the checkout. */
export function readSources(): Omit<Sources, "repository"> {
  const paths = FOLDERS.flatMap((folder) =>
    [...Deno.readDirSync(`${ROOT}/${folder}`)].filter(({ name }) => name.endsWith(".md")).map(({ name }) =>
      folder + name
    )
  ).sort();
  return {
    pages: new Map(paths.map((path) => [path, Deno.readTextFileSync(`${ROOT}/${path}`)])),
    kind: (path) => {
      try {
        return Deno.statSync(`${ROOT}/${path}`).isDirectory ? "folder" : "file";
      } catch {
        return undefined;
      }
    },
  };
}
