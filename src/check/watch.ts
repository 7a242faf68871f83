/** Repeats checks and redraws the results until the checks pass (`check --watch`). */
import { CLEAR_SCREEN } from "../base/text/mod.ts";
import type { World } from "../platform/mod.ts";
import type { CheckResult } from "./result_schema.ts";

export interface Watching {
  readonly results: () => Promise<readonly CheckResult[]>;
  readonly isWell: (results: readonly CheckResult[]) => boolean;
  readonly text: (results: readonly CheckResult[]) => string;
  /** Maximum time, in milliseconds; 0 means no limit. */
  readonly timeout: number;
  /** Whether the output is JSON or YAML. Only the last results are then printed. */
  readonly isDocument: boolean;
}

const PAUSE = 2_000;

/** Returns whether the checks pass before the timeout. Without a terminal, prints the results only when they change. */
export async function watchUntilWell(
  { clock, stdout }: Pick<World, "clock" | "stdout">,
  { results: ask, isWell, text, timeout, isDocument }: Watching,
): Promise<boolean> {
  const end = clock.monotonic() + (timeout || Infinity);
  const clear = stdout.isTerminal && !isDocument ? CLEAR_SCREEN : undefined;
  let last = "";
  const draw = (shown: string) => {
    if (shown === last) return;
    // Writes CLEAR_SCREEN as a separate chunk, because it is escaped in any other chunk.
    if (clear !== undefined || last !== "") stdout.write(clear ?? "\n");
    stdout.write(shown);
    last = shown;
  };
  for (;;) {
    const results = await ask();
    const left = end - clock.monotonic();
    const isLast = isWell(results) || left <= 0;
    if (isLast || !isDocument) draw(text(results));
    if (isLast) return isWell(results);
    await clock.sleep(Math.min(PAUSE, left));
  }
}
