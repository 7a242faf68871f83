/** Builds Go programs for tests: servers and oracles, once for each state of their sources. */
import { CACHE, CHECKOUT, makeOnce } from "./cache.ts";

/** Without debug information, and with fewer garbage collections, the compiler needs a fifth less processor time. */
export const BUILD_FLAGS: readonly string[] = ["-gcflags=all=-dwarf=false", "-ldflags=-s -w"];

/** The builds that are running in this process, with their start times in milliseconds since the process started. */
export const BUILDS = new Map<string, number>();

/**
 * Builds the package `from` (by default the one in `folder`) with the Go module in `folder`, a path in the checkout.
 * Returns the path of the program, whose name contains a hash of the files in the folder and in a package below it.
 * `flags` are additional flags for `go build`; they must be the same in each call. Throws the output of a failed build.
 */
export async function goProgram(folder: string, from = ".", flags: readonly string[] = []): Promise<string> {
  const name = (from === "." ? folder : from).split("/").at(-1) ?? "";
  const source = `${CHECKOUT}/${folder}`;
  const hash = await hashOf(from.startsWith("./") ? [source, `${source}/${from}`] : [source]);
  return await makeOnce(`${CACHE}/programs/${name}-${hash}`, async (program) => {
    // Builds have a lower priority, because tests that run at the same time have deadlines.
    const args = ["-n", "10", "go", "-C", source, "build", ...BUILD_FLAGS, ...flags, "-o", program, from];
    BUILDS.set(name, performance.now());
    const go = new Deno.Command("nice", { args, env: { GOGC: "400" }, stdin: "null" });
    const { success, stderr } = await go.output().finally(() => BUILDS.delete(name));
    if (!success) throw new Error(`go build in ${folder}: ${new TextDecoder().decode(stderr).slice(-2000)}`);
  });
}

/**
 * Runs a program from {@link goProgram} with questions as JSON lines, and returns its answers, one for each question.
 */
export async function askGoProgram<Answer>(
  folder: string,
  questions: readonly unknown[],
  parse: (line: string) => Answer,
  env: Readonly<Record<string, string>> = {},
): Promise<Answer[]> {
  const program = await goProgram(folder);
  const child = new Deno.Command(program, { env, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const input = new Blob(questions.map((question) => `${JSON.stringify(question)}\n`));
  const [{ success, stdout, stderr }] = await Promise.all([child.output(), input.stream().pipeTo(child.stdin)]);
  if (!success) throw new Error(`${folder}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trimEnd().split("\n").map(parse);
}

async function hashOf(folders: readonly string[]): Promise<string> {
  const texts = (await Promise.all(folders.map(textsOf))).flat();
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(texts.join("")));
  return new Uint8Array(sum).slice(0, 8).toHex();
}

async function textsOf(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  const names = entries.filter(({ name, isFile }) => isFile && /\.go$|^go\.(mod|sum)$/.test(name)).map(({ name }) =>
    name
  );
  return await Promise.all(
    names.toSorted().map(async (name) => `${name}\n${await Deno.readTextFile(`${folder}/${name}`)}\n`),
  );
}
