/** What all readers of settings share. */
import { readDuration } from "../../core/duration.ts";
import { parseBool } from "../../core/net.ts";
import type { Value } from "../../core/value.ts";
import type { World } from "../../core/world/world.ts";
import type { FlagName } from "./flags.ts";
import type { Variables } from "./variables.ts";

export interface Reading {
  readonly world: World;
  readonly given: ReadonlyMap<FlagName, string>;
  readonly variables: Variables;
  /** What is wrong with the command line. */
  readonly usage: string[];
  /** What else is wrong. */
  readonly problems: string[];
  readonly warnings: string[];
}

/** The text of a flag, `""` if it was not given. */
export function flagText({ given }: Reading, name: FlagName): string {
  return given.get(name) ?? "";
}

/** Whether a flag was switched on. */
export function isOn(reading: Reading, name: FlagName): boolean {
  return parseBool(flagText(reading, name)) === true;
}

/** The milliseconds of a duration in a proxy configuration. */
export function milliseconds(value: Value | undefined, fallback: number): number {
  const duration = typeof value === "string" ? readDuration(value) : undefined;
  return typeof duration === "bigint" ? Number(duration / 1_000_000n) : fallback;
}
