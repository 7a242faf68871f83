/**
 * Manifests as people and generators write them: the examples, our own files, and public manifests in `../shared` if it
 * exists.
 */
import { CHECKOUT } from "../programs/cache.ts";
import { needsShared, SHARED } from "../test_when.ts";

/** The folder of our own manifests. */
export const OWN_MANIFESTS = `${CHECKOUT}/test/golden/manifests`;

/** Our own manifests that reproduce mistakes found with public manifests. */
export const CORPUS = `${CHECKOUT}/test/golden/corpus`;

/** All folders with manifests. */
export const MANIFEST_FOLDERS: readonly string[] = [
  `${CHECKOUT}/examples`,
  OWN_MANIFESTS,
  ...needsShared("cases/manifests") === undefined ? [`${SHARED}/cases/manifests`] : [],
];

/** Returns the paths of all files in the folders. */
export function manifestFiles(folders: readonly string[] = MANIFEST_FOLDERS): readonly string[] {
  return folders.flatMap((folder) =>
    [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => /\.ya?ml$/.test(name)).sort()
      .map((name) => `${folder}/${name}`)
  );
}

/** Calls `body` with each file, in a separate test step. */
export async function eachManifest(t: Deno.TestContext, body: (path: string) => unknown): Promise<void> {
  for (const path of manifestFiles()) await t.step(path.replace(`${CHECKOUT}/`, ""), async () => void await body(path));
}
