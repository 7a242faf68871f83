/** `deno test` prints this for a test that runs for one, two, four and eight minutes. */
const HANGS = /'([^'\n]+)' has been running for over \(8m0s\)/;

/**
 * Passes the output of `deno test` on as text. Calls `hangs` with the name of a test that runs for eight minutes: it
 * does not end, and the rest of the run would wait for it.
 */
export async function watchOutput(
  output: AsyncIterable<Uint8Array>,
  write: (text: string) => void,
  hangs: (name: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let line = "";
  for await (const bytes of output) {
    const text = decoder.decode(bytes, { stream: true });
    write(text);
    line += text;
    const name = HANGS.exec(line)?.[1];
    if (name !== undefined) hangs(name);
    line = line.slice(line.lastIndexOf("\n") + 1);
  }
}
