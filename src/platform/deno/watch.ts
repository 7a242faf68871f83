/** Maximum size of a hashed file, in bytes. For larger files only size and times are compared. */
const MAX_HASHED_BYTES = 16 * 1024 * 1024;
/** Maximum number of watched files per directory. */
const MAX_FILES = 1000;

/**
 * Polls files and calls `changed` after their content changed and then stayed the same for two polls. inotify is not enough:
 * mounted ConfigMaps and Secrets change when kubelet swaps the symbolic link `..data`, which a watch of the file does not report;
 * network file systems do not report changes; and a node limits the number of watches.
 */
export function watchFiles(paths: readonly string[], milliseconds: number, changed: () => void): () => void {
  const hashes = new Map<string, Hashed>();
  let reported = stateOf(paths, hashes);
  let last = reported;
  const timer = setInterval(() => {
    const state = stateOf(paths, hashes);
    const isStable = state === last;
    last = state;
    if (!isStable || state === reported) return;
    reported = state;
    changed();
  }, milliseconds);
  return () => clearInterval(timer);
}

/** The hash of a file's content, and its metadata when it was read. */
interface Hashed {
  readonly stamp: string;
  readonly hash: string;
}

function stateOf(paths: readonly string[], hashes: Map<string, Hashed>): string {
  return paths.flatMap(filesOf).map((path) => `${path}=${hashOf(path, hashes)}`).join("\n");
}

/**
 * Returns the path itself, or for a directory the paths in it. Does not search subfolders. Leaves out the entries of
 * mounted ConfigMaps and Secrets whose names begin with `..`.
 */
function filesOf(path: string): readonly string[] {
  try {
    if (!Deno.statSync(path).isDirectory) return [path];
    const names = [...Deno.readDirSync(path)].map(({ name }) => name).filter((name) => !name.startsWith(".."));
    return names.sort().slice(0, MAX_FILES).map((name) => `${path}/${name}`);
  } catch {
    // The path does not exist yet.
    return [path];
  }
}

/** Reads the content again only if inode, time or size changed. */
function hashOf(path: string, hashes: Map<string, Hashed>): string {
  try {
    const info = Deno.statSync(path);
    if (!info.isFile) return "";
    const stamp = `${info.dev} ${info.ino} ${info.mtime?.getTime()} ${info.ctime?.getTime()} ${info.size}`;
    const known = hashes.get(path);
    if (known?.stamp === stamp) return known.hash;
    const hash = info.size > MAX_HASHED_BYTES ? stamp : sha256(Deno.readFileSync(path));
    hashes.set(path, { stamp, hash });
    return hash;
  } catch {
    // The file does not exist, or has just been removed.
    return "absent";
  }
}

/** Loads `node:crypto` on first use, because loading takes a third of a millisecond. */
function sha256(bytes: Uint8Array): string {
  return globalThis.process.getBuiltinModule("node:crypto").createHash("sha256").update(bytes).digest("hex");
}
