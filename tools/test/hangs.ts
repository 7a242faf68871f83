/** `deno test` prints this line when a test has been running for 1, 2, 4, 8, 16, ... minutes. */
const RUNS_LONG = /'([^'\n]+)' has been running for over \((\d+)m0s\)/;
/** This line ends a test or a step. */
const ENDED = / \.\.\. (?:ok|FAILED|ignored)\b/;
/** The limit after which a test counts as hanging, and the function to call then. */
export interface Hangs {
  /** Gets the name of the test. */
  readonly hangs: (name: string) => void;
  /** A test that runs this long without progress hangs: 1, 2, 4, 8, 16, ... minutes. */
  readonly minutes: number;
}

/**
 * Passes the output of `deno test` to `write`. Calls `hangs` with the name of a test that has been running for
 * `minutes` and has finished no step since the previous message: it would block the rest of the run. A test with many
 * steps may run longer on a busy machine.
 */
export async function watchOutput(
  output: AsyncIterable<Uint8Array>,
  write: (text: string) => void,
  { hangs, minutes }: Hangs,
): Promise<void> {
  const decoder = new TextDecoder();
  let line = "";
  let progresses = false;
  for await (const bytes of output) {
    const text = decoder.decode(bytes, { stream: true });
    write(text);
    const lines = (line + text).split("\n");
    line = lines.pop() ?? "";
    // The message about a hanging test may follow "name ..." on the same line.
    for (const ended of lines) {
      const [, name, passed] = RUNS_LONG.exec(ended) ?? [];
      if (name !== undefined && Number(passed) >= minutes && !progresses) hangs(name);
      progresses = name === undefined && (progresses || ENDED.test(ended));
    }
  }
}
