/** The clone of istio/istio. */

/** Runs git in the clone. Returns its output. */
export async function git(repository: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr, success } = await new Deno.Command("git", { args: ["-C", repository, ...args] }).output();
  if (!success) throw new Error(`git ${args[0]}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** The commit that a tag names. */
export async function commitOf(repository: string, tag: string): Promise<string> {
  return (await git(repository, ["rev-list", "-n", "1", tag])).trim();
}

/** Files of a release in a temporary folder. */
export interface Archived extends AsyncDisposable {
  readonly folder: string;
  /** SHA-256 of the files, as `git archive` gives them. */
  readonly sha256: string;
}

/** The files of a tag that match these pathspecs of git. */
export async function archived(repository: string, tag: string, paths: readonly string[]): Promise<Archived> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-istio-" });
  const archive = `${folder}.tar`;
  try {
    await git(repository, ["archive", "--output", archive, tag, ...paths]);
    const bytes = await Deno.readFile(archive);
    const { success } = await new Deno.Command("tar", { args: ["-x", "-f", archive, "-C", folder] }).output();
    if (!success) throw new Error(`The archive of ${tag} cannot be unpacked`);
    const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    return { folder, sha256, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
  } catch (error) {
    await Deno.remove(folder, { recursive: true });
    throw error;
  } finally {
    await Deno.remove(archive).catch(() => {});
  }
}
