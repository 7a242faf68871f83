/** Detects colors, width and characters for output on this terminal. */
import { columnsOf, isPlain, rowsOf } from "../../platform/terminal.ts";
import type { World } from "../../platform/world.ts";
import type { Look } from "./terminal.ts";

/** Returns the look of the output. Color follows https://no-color.org and TERM; box drawing follows the locale. */
export function lookOf(world: World): Look {
  const { env, machine } = world;
  return {
    columns: columnsOf(world),
    color: !isPlain(world),
    rows: world.stdout.isTerminal ? rowsOf(world) : undefined,
    ascii: isAscii(env, machine.os) || env.get("TERM") === "dumb",
  };
}

/** Whether to use only ASCII. The first locale variable that is set decides (POSIX). Only Linux defaults to ASCII. */
function isAscii(env: World["env"], os: World["machine"]["os"]): boolean {
  const locale = ["LC_ALL", "LC_CTYPE", "LANG"].map((name) => env.get(name) ?? "").find((value) => value !== "");
  if (locale === undefined) return os === "linux";
  return !/utf-?8/i.test(locale);
}
