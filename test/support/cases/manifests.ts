/** Manifests as people and generators write them: the examples, files of our own, and public ones of `../shared` if it exists. */
import { CHECKOUT } from "../programs/cache.ts";
import { needsShared, SHARED } from "../test_when.ts";

/** Our own files. */
export const OWN_MANIFESTS = `${CHECKOUT}/test/golden/manifests`;

/** Our own files that each show a mistake once found on public manifests. */
export const CORPUS = `${CHECKOUT}/test/golden/corpus`;

/** The folders. */
export const MANIFEST_FOLDERS: readonly string[] = [
  `${CHECKOUT}/examples`,
  OWN_MANIFESTS,
  ...needsShared("cases/manifests") === undefined ? [`${SHARED}/cases/manifests`] : [],
];

/** The paths of all files of some folders. */
export function manifestFiles(folders: readonly string[] = MANIFEST_FOLDERS): readonly string[] {
  return folders.flatMap((folder) =>
    [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => /\.ya?ml$/.test(name)).sort()
      .map((name) => `${folder}/${name}`)
  );
}

/** Calls `body` with each file, in a step of its own. */
export async function eachManifest(t: Deno.TestContext, body: (path: string) => unknown): Promise<void> {
  for (const path of manifestFiles()) await t.step(path.replace(`${CHECKOUT}/`, ""), async () => void await body(path));
}
