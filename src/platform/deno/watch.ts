/** For larger files only size and time are compared. */
const MAX_HASHED_BYTES = 16 * 1024 * 1024;
/** At most this many files of a directory are watched. */
const MAX_FILES = 1000;

/**
 * Polls files and calls `changed` when their content changed and was the same for two polls. inotify is not enough:
 * mounted ConfigMaps and Secrets change by a swap of the link `..data`, which a watch of the file never reports;
 * network file systems report nothing; and a node limits the number of watches.
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

/** The file itself, or the files of a directory: no subfolders, and not the versions that `..data` points to. */
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
    // The file does not exist, or was removed meanwhile.
    return "absent";
  }
}

/** Loads `node:crypto` when it is needed: that takes a third of a millisecond. */
function sha256(bytes: Uint8Array): string {
  return globalThis.process.getBuiltinModule("node:crypto").createHash("sha256").update(bytes).digest("hex");
}
