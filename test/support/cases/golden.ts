/** Golden cases of whole commands: one folder for each case, run in a copy of its working folder. */
import { MESH_BINARY, runMesh, sayMesh } from "../programs/mesh.ts";

/** The output, exit code and written files of a command. */
export interface Outcome {
  readonly code: string;
  readonly stdout: string;
  readonly stderr: string;
  /** New and changed files in the working folder: content by path. */
  readonly written: Readonly<Record<string, string>>;
}

/** Commands that replace themselves with another program, handle signals, or give up permissions. */
const OF_CONTAINERS = /^(agent|iptables|istio-iptables|pilot-agent|wait|webhook serve)\b/;

/**
 * Whether the case in a folder runs as a process. With a binary, all cases do; otherwise the other cases change the
 * working folder of this process.
 */
export async function isProcess(folder: string): Promise<boolean> {
  return MESH_BINARY !== undefined || OF_CONTAINERS.test((await argsOf(folder)).join(" "));
}

async function argsOf(folder: string): Promise<string[]> {
  return words(await Deno.readTextFile(`${folder}/args`));
}

/**
 * Runs the case in a folder. Its files are `args` (arguments with the quoting of a shell; lines that begin with `#`
 * explain the case), `stdin`, `env` (`NAME=VALUE` lines), and `in`, the working folder, to which the files in `common`
 * are added.
 */
export async function runCase(folder: string, common: string): Promise<Outcome> {
  const cwd = await Deno.makeTempDir({ prefix: "mesh case " });
  try {
    for (const from of [common, `${folder}/in`]) await copyTree(from, cwd);
    const before = await readTree(cwd);
    const stdin = await readIfThere(`${folder}/stdin`);
    const env = environment(await readIfThere(`${folder}/env`) ?? "");
    const args = await argsOf(folder);
    const run = { env, ...stdin === undefined ? {} : { stdin } };
    const said = await isProcess(folder) ? runMesh(args, { cwd, ...run }) : inFolder(cwd, () => sayMesh(args, run));
    const { code, stdout, stderr } = await said;
    const written = Object.entries(await readTree(cwd)).filter(([path, text]) => before[path] !== text);
    return { code: `${code}\n`, stdout, stderr, written: Object.fromEntries(written) };
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

async function inFolder<T>(folder: string, run: () => Promise<T>): Promise<T> {
  const before = Deno.cwd();
  Deno.chdir(folder);
  try {
    return await run();
  } finally {
    Deno.chdir(before);
  }
}

/**
 * Returns the expected outcome, from the files `code`, `stdout`, `stderr` and the folder `after`. A missing file counts
 * as empty.
 */
export async function expectedOutcome(folder: string): Promise<Outcome> {
  const [code, stdout, stderr] = await Promise.all(
    ["code", "stdout", "stderr"].map(async (name) => await readIfThere(`${folder}/${name}`) ?? ""),
  );
  return { code: code ?? "", stdout: stdout ?? "", stderr: stderr ?? "", written: await readTree(`${folder}/after`) };
}

/** Saves an outcome as the expected outcome. */
export async function writeExpected(folder: string, { written, ...streams }: Outcome): Promise<void> {
  for (const [name, text] of Object.entries(streams)) await writeOrRemove(`${folder}/${name}`, text);
  await Deno.remove(`${folder}/after`, { recursive: true }).catch(() => {});
  for (const [path, text] of Object.entries(written)) {
    const file = `${folder}/after/${path}`;
    await Deno.mkdir(file.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(file, text);
  }
}

async function writeOrRemove(file: string, text: string): Promise<void> {
  if (text === "") await Deno.remove(file).catch(() => {});
  else await Deno.writeTextFile(file, text);
}

function words(text: string): string[] {
  const plainLines = text.split("\n").filter((line) => !line.startsWith("#")).join("\n");
  return [...plainLines.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

function environment(text: string): Record<string, string> {
  return Object.fromEntries(text.split("\n").filter((line) => line !== "").map((line) => line.split("=", 2)));
}

async function copyTree(from: string, to: string): Promise<void> {
  for (const { path, kind } of await tree(from)) {
    if (kind === "folder") await Deno.mkdir(`${to}/${path}`, { recursive: true });
    else await Deno.copyFile(`${from}/${path}`, `${to}/${path}`);
  }
}

async function readTree(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const { path, kind } of await tree(folder)) {
    if (kind === "file") files[path] = new TextDecoder().decode(await Deno.readFile(`${folder}/${path}`));
  }
  return files;
}

interface Entry {
  readonly path: string;
  readonly kind: "file" | "folder";
}

/** Lists a folder, parents first. Empty if the folder does not exist. */
async function tree(folder: string, under = ""): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const { name, isDirectory } of await list(`${folder}/${under}`)) {
    entries.push({ path: under + name, kind: isDirectory ? "folder" : "file" });
    if (isDirectory) entries.push(...await tree(folder, `${under}${name}/`));
  }
  return entries;
}

async function list(folder: string): Promise<Deno.DirEntry[]> {
  try {
    return await Array.fromAsync(Deno.readDir(folder));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
