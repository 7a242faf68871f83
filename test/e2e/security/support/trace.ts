/** What a program does to the system, as strace(1) sees it: files, addresses, other programs. */

/** What a program did. Each list is sorted and has no value twice. */
export interface Deeds {
  /** Files and folders that it opened for reading. */
  readonly reads: readonly string[];
  /** Files that it opened for writing, created, renamed or removed. */
  readonly writes: readonly string[];
  /** `ADDRESS:PORT`, or the path of a Unix socket; an abstract one starts with `@`. */
  readonly contacts: readonly string[];
  readonly listens: readonly string[];
  /** Programs that it started. Their own actions are left out. */
  readonly programs: readonly string[];
}

/** The arguments with which strace writes the files that `deedsIn` reads. */
export function straceArgs(prefix: string): string[] {
  const calls =
    "execve,clone,clone3,fork,vfork,open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat," +
    "rmdir,symlink,symlinkat,link,linkat,chmod,fchmodat,chdir,connect,sendto,bind";
  // Without seccomp-bpf the program stops at every system call, traced or not.
  // -y prints the folder of a relative path.
  return ["-ff", "--seccomp-bpf", "-qq", "-y", "-s", "4096", "-e", `trace=${calls}`, "-e", "signal=none", "-o", prefix];
}

type Kind = keyof Deeds;
type Sets = Record<Kind, Set<string>>;

/**
 * Reads the files with this prefix, one for each thread. `isItself`: whether a program is the traced one, and neither a
 * launcher before it nor a child. `cwd`: where relative paths start.
 */
export async function deedsIn(
  folder: string,
  prefix: string,
  isItself: (program: string) => boolean,
  cwd: string,
): Promise<Deeds> {
  const texts = new Map<number, string>();
  for await (const { name } of Deno.readDir(folder)) {
    if (name.startsWith(`${prefix}.`)) {
      texts.set(Number(name.slice(prefix.length + 1)), await Deno.readTextFile(`${folder}/${name}`));
    }
  }
  const sets: Sets = {
    reads: new Set(),
    writes: new Set(),
    contacts: new Set(),
    listens: new Set(),
    programs: new Set(),
  };
  const children = new Set(
    [...texts.values()].flatMap((text) => [...text.matchAll(STARTED)].map(([, , pid]) => Number(pid))),
  );
  const root = [...texts.keys()].find((pid) => !children.has(pid));
  if (root === undefined) throw new Error("strace saw no process");
  const queue: { readonly pid: number; readonly state: State }[] = [{ pid: root, state: "before" }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    let { state } = next;
    for (const line of (texts.get(next.pid) ?? "").split("\n")) {
      const program = /^execve\("([^"]*)".* = 0$/.exec(line)?.[1];
      if (program !== undefined) state = started(sets, state, program, isItself);
      const child = STARTED_LINE.exec(line)?.[2];
      if (child !== undefined) queue.push({ pid: Number(child), state });
      if (state === "itself") note(sets, line, cwd);
    }
  }
  const sorted = (kind: Kind) => [...sets[kind]].sort();
  return {
    reads: sorted("reads"),
    writes: sorted("writes"),
    contacts: sorted("contacts"),
    listens: sorted("listens"),
    programs: sorted("programs"),
  };
}

/** Whether a process runs a launcher before the program, the program itself, or a program that it has started. */
type State = "before" | "itself" | "other";

const STARTED = /^(clone|clone3|fork|vfork)\(.*\) += (\d+)$/gm;
const STARTED_LINE = /^(clone|clone3|fork|vfork)\(.*\) += (\d+)$/;

function started(sets: Sets, state: State, program: string, isItself: (program: string) => boolean): State {
  if (state === "before") return isItself(program) ? "itself" : "before";
  if (state === "itself") sets.programs.add(program);
  return "other";
}

const CHANGES = /^(mkdir|rename|unlink|rmdir|symlink|link|chmod|fchmod|creat)/;

/** Matches a path after the file descriptor of its folder, if the call has one. */
const PATHS = /(?:(?:AT_FDCWD|\d+)<([^>]*)>(?:\(deleted\))?, )?"((?:[^"\\]|\\.)*)"/g;

function note(sets: Sets, line: string, cwd: string): void {
  const [, call = ""] = /^(\w+)\(/.exec(line) ?? [];
  const failed = / = -1 (E\w+)/.exec(line)?.[1];
  if (call === "connect" || call === "sendto" || call === "bind") return noteAddress(sets, call, line, failed);
  if (failed !== undefined) return;
  const paths = [...line.matchAll(PATHS)].map(([, folder = cwd, path = ""]) => absolute(path, folder));
  if (call.startsWith("open")) {
    const kind = /O_WRONLY|O_RDWR|O_CREAT/.test(line) ? "writes" : "reads";
    if (paths[0] !== undefined) sets[kind].add(paths[0]);
  } else if (CHANGES.test(call)) paths.forEach((path) => sets.writes.add(path));
}

function absolute(path: string, cwd: string): string {
  const full = path.startsWith("/") ? path : `${cwd}/${path}`;
  return full.replaceAll("/./", "/").replace(/\/\.$/, "");
}

/** A refused connection counts too, because the program has contacted the address. */
function noteAddress(sets: Sets, call: string, line: string, failed: string | undefined): void {
  const address = addressIn(line);
  if (address === undefined || (call === "bind" && failed !== undefined)) return;
  sets[call === "bind" ? "listens" : "contacts"].add(address);
}

function addressIn(line: string): string | undefined {
  const unix = /sun_path=(@?)"([^"]*)"/.exec(line);
  if (unix !== null) return `${unix[1]}${unix[2]}`;
  const port = /sin6?_port=htons\((\d+)\)/.exec(line)?.[1];
  const host = /inet_addr\("([^"]*)"\)/.exec(line)?.[1] ?? /inet_pton\(AF_INET6, "([^"]*)"/.exec(line)?.[1];
  return port === undefined || host === undefined ? undefined : `${host}:${port}`;
}
