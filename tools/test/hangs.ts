/** `deno test` prints this for a test that runs for one, two, four, eight, sixteen ... minutes. */
const RUNS_LONG = /'([^'\n]+)' has been running for over \((\d+)m0s\)/;
/** A test or a step of one has ended. */
const ENDED = / \.\.\. (?:ok|FAILED|ignored)\b/;
/** When a test hangs, and how that is reported. */
export interface Hangs {
  /** Gets the name of the test. */
  readonly hangs: (name: string) => void;
  /** Minutes after which a test without progress hangs: 1, 2, 4, 8, 16 ... */
  readonly minutes: number;
}

/**
 * Passes the output of `deno test` on as text. Calls `hangs` with the name of a test that runs for so many minutes, and of
 * whose steps none has ended since the message before: it does not end, and the rest of the run would wait for it. A
 * busy machine may need more for a test of many steps.
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
    // The message about a test has no line of its own: it may follow "name ...".
    for (const ended of lines) {
      const [, name, passed] = RUNS_LONG.exec(ended) ?? [];
      if (name !== undefined && Number(passed) >= minutes && !progresses) hangs(name);
      progresses = name === undefined && (progresses || ENDED.test(ended));
    }
  }
}
