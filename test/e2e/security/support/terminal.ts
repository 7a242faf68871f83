/** Commands with a terminal as standard output and standard error: script(1) of util-linux makes one. */
import { MESH_COMMAND } from "../../../support/programs/mesh.ts";

/** What the program itself may send to a terminal, including progress lines. */
// deno-lint-ignore no-control-regex -- the program's own sequences
const OWN = /\r\x1b\[K|\r?\n|\t|\x1b\[(?:[012]|22|3[1-69])?m/g;
// deno-lint-ignore no-control-regex -- what a terminal would act on
const ACTS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069].{0,20}/g;

/** What a terminal receives from a command, as a person sees it. */
export async function onTerminal(
  words: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  const line = [MESH_COMMAND, ...words].map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(" ");
  const args = ["-qec", line, "/dev/null"];
  const command = new Deno.Command("script", { args, cwd, env, stdin: "null", stderr: "null" });
  return new TextDecoder().decode((await command.output()).stdout);
}

/** What a command writes to pipes, as the log of a CI system shows it. */
export async function inPipes(
  words: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Readonly<Record<"stdout" | "stderr", string>>> {
  const { stdout, stderr } = await new Deno.Command(MESH_COMMAND, { args: [...words], cwd, env, stdin: "null" })
    .output();
  const decoder = new TextDecoder();
  return { stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** The characters that act on a terminal, each with the text after it, except the program's own. */
export function acting(shown: string): readonly string[] {
  return (shown.replaceAll(OWN, "").match(ACTS) ?? []).map((found) => JSON.stringify(found));
}

/** The reason to skip a test without script(1). */
export const needsTerminal = await (async () => {
  const { success } = await new Deno.Command("script", { args: ["--version"], stdout: "null", stderr: "null" }).output()
    .catch(() => ({ success: false }));
  return success ? undefined : "no program script(1)";
})();
