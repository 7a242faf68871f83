/** The result of running a program. */
export interface Outcome {
  readonly ok: boolean;
  /** The exit code; 127 if the program could not be started. */
  readonly code: number;
  readonly text: string;
}

/** Prints a line on stderr. */
export function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

/** Runs a program without input and waits for its end; never throws. */
export async function run(
  command: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): Promise<Outcome> {
  const [program = "", ...args] = command;
  try {
    const output = await new Deno.Command(program, {
      args,
      env: { RUST_BACKTRACE: "0", NO_COLOR: "1", ...env },
      stdin: "null",
      ...(cwd === undefined ? {} : { cwd }),
    }).output();
    const decoder = new TextDecoder();
    return {
      ok: output.success,
      code: output.code,
      text: decoder.decode(output.stdout) + decoder.decode(output.stderr),
    };
  } catch (error) {
    return { ok: false, code: 127, text: error instanceof Error ? error.message : String(error) };
  }
}

/** Runs a program. Throws its output if it fails. */
export async function mustRun(
  command: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): Promise<string> {
  const outcome = await run(command, env, cwd);
  if (!outcome.ok) throw new Error(`"${command.join(" ")}" failed: ${outcome.text.trim()}`);
  return outcome.text;
}
