/** Progress of long work: a line on a terminal, and a summary after an interruption. */
import { ageText, counted, visible } from "../base/text/mod.ts";
import { EXIT, MeshError } from "../base/errors.ts";
import { isPlain } from "./terminal.ts";
import type { World } from "./world.ts";

/** The counted items. `{ one: "pod", verb: "read" }` gives "3 of 20 pods" and "3 of 20 pods were read". */
export interface Counting {
  readonly one: string;
  /** A past participle. */
  readonly verb: string;
}

export interface Progress {
  /** Sets the number of finished items and the total; `undefined` if the total is unknown. */
  at(done: number, all?: number): void;
  /** Sets the name of the current step; empty removes the name. */
  now(what: string): void;
  /** Removes the line before other output. The next update shows the line again. */
  hide(): void;
  /** Removes the line permanently. */
  end(): void;
  /** Returns a summary, such as `3 of 20 pods were read`. */
  soFar(): string;
}

/** Milliseconds before the line appears (DELAY), between updates (PAUSE), and between refreshes without progress (TICK). */
const DELAY = 1_000;
const PAUSE = 100;
const TICK = 1_000;
/** Maximum number of refreshes without progress, which is ten minutes. */
const MAX_TICKS = 600;

/** Starts to count work. Shows the line on standard error if that is a terminal and `isShown` is true. */
export function startProgress(
  world: Pick<World, "stderr" | "env" | "clock">,
  counting: Counting,
  isShown = true,
): Progress {
  const { clock } = world;
  const line = progressLine(world, isShown);
  const start = clock.monotonic();
  let done = 0;
  let all: number | undefined;
  let what = "";
  let shown = -Infinity;
  let isOver = false;
  const count = () => all === undefined ? counted(done, counting.one) : `${done} of ${counted(all, counting.one)}`;
  const show = () => {
    const time = clock.monotonic();
    if (!line.isOn || isOver || time - start < DELAY || time - shown < PAUSE) return;
    shown = time;
    line.say(`${count()}, ${ageText((time - start) / 1_000)}${what === "" ? "" : `: ${what}`}`);
  };
  // The last sleep is not aborted: an AbortController would cost 2 ms, and a run on a small file takes 65 ms.
  const tick = async () => {
    for (let ticks = 0; ticks < MAX_TICKS && !isOver; ticks++) {
      await clock.sleep(TICK);
      show();
    }
  };
  if (line.isOn) void tick();
  return {
    at(ended, of) {
      [done, all] = [ended, of];
      show();
    },
    now(text) {
      what = text;
      show();
    },
    hide: () => line.clear(),
    end() {
      isOver = true;
      line.clear();
    },
    soFar: () => `${count()} ${(all ?? done) === 1 ? "was" : "were"} ${counting.verb}`,
  };
}

/** Runs work with a progress line. SIGINT and SIGTERM reject with a MeshError that reports the finished items. */
export async function withProgress<T>(
  world: World,
  counting: Counting,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = startProgress(world, counting);
  const signals = interruption(world, () => `Interrupted: ${progress.soFar()}`);
  try {
    return await Promise.race([work(progress), signals.promise]);
  } finally {
    signals.off();
    progress.end();
  }
}

const SIGNAL_CODES = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;

/** Returns a promise that rejects with a MeshError after SIGINT or SIGTERM. `off` removes the signal handlers. */
export function interruption({ signals }: Pick<World, "signals">, message: () => string) {
  const { promise, reject } = Promise.withResolvers<never>();
  // Without this, an interruption that no code awaits would end the process as an unhandled rejection.
  promise.catch(() => {});
  const offs = (["SIGINT", "SIGTERM"] as const).map((name) =>
    signals.on(name, () => reject(new MeshError(message(), { exitCode: SIGNAL_CODES[name] })))
  );
  return { promise, off: () => offs.forEach((off) => off()) };
}

/** Returns the same interruption with the finished items appended to its error message. */
export function withSoFar(interrupted: Promise<never>, { soFar }: Pick<Progress, "soFar">): Promise<never> {
  return interrupted.catch((error) => {
    if (!(error instanceof MeshError)) throw error;
    throw new MeshError(`${error.message}; ${soFar()}`, { exitCode: error.exitCode });
  });
}

const USUAL_COLUMNS = 80;

/** Returns a line on the terminal. Truncates the text to the terminal's width, because a wrapped line cannot be removed. */
function progressLine({ stderr, env }: Pick<World, "stderr" | "env">, isShown: boolean) {
  const isOn = isShown && !isPlain({ stdout: stderr, env });
  let isThere = false;
  return {
    isOn,
    say(text: string) {
      isThere = true;
      stderr.write(`\r\x1b[K${visible(text).slice(0, (stderr.columns ?? USUAL_COLUMNS) - 1)}`);
    },
    clear() {
      if (!isThere) return;
      isThere = false;
      stderr.write("\r\x1b[K");
    },
  };
}
