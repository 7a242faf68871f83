/** Something made from files, kept when the files change for the worse. */
import { errorLine, MeshError, messageOf } from "../../core/errors.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { Files } from "../../core/world/world.ts";

/** How a thing is made, and from which files. */
export interface Recipe<T> {
  /** What messages call it: `configuration`. */
  readonly name: string;
  readonly paths: readonly string[];
  /** Reads the files. Throws a `MeshError` for what cannot be used. */
  readonly make: () => Promise<T>;
}

/** The thing that is in force. */
export interface Kept<T> {
  current(): T;
  problem(): string | undefined;
  onChange(handler: () => void): () => void;
  close(): void;
}

/** How often files are looked at; a change counts when two looks found the same. */
const LOOK_EVERY = 1000;

/**
 * Makes a thing from files, and anew when they change: what cannot be made leaves the one before in force, is logged once
 * for each change, and is told by `problem`. Rejects with a `MeshError` if even the first cannot be made.
 */
export async function keep<T>(files: Files, log: Logger, recipe: Recipe<T>): Promise<Kept<T>> {
  const handlers = new Set<() => void>();
  const state: { problem: string | undefined } = { problem: undefined };
  // Before the files are read: what changes while they are is seen.
  const loop = oneAtATime(() => renew());
  const stop = recipe.paths.length === 0 ? () => {} : files.watch(recipe.paths, LOOK_EVERY, loop);
  let current: T;
  try {
    current = await recipe.make();
  } catch (error) {
    stop();
    throw error;
  }
  async function renew(): Promise<void> {
    try {
      current = await recipe.make();
      state.problem = undefined;
      log.info(`The new ${recipe.name} is in force`);
    } catch (error) {
      state.problem = problemOf(error);
      log.error(logText(`The new ${recipe.name} cannot be used, the one before stays in force: ${state.problem}`));
    }
    handlers.forEach((handler) => handler());
  }
  return {
    current: () => current,
    problem: () => state.problem,
    onChange(handler) {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    close: stop,
  };
}

/** An error as one line. */
export function problemOf(error: unknown): string {
  return error instanceof MeshError ? errorLine(error) : messageOf(error);
}

/** Calls that come while one runs are one more run after it. */
function oneAtATime(run: () => Promise<void>): () => void {
  let running = false;
  let again = false;
  return async () => {
    again = true;
    if (running) return;
    running = true;
    while (again) {
      again = false;
      await run();
    }
    running = false;
  };
}
