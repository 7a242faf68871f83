/** How output looks on this terminal. */
import { isPlain } from "../../core/terminal.ts";
import type { World } from "../../core/world/world.ts";
import type { Look } from "./terminal.ts";

/** Where the output is no terminal, or its width is not known. */
const USUAL_COLUMNS = 80;

/** Colour by https://no-color.org and TERM, box drawing by the locale. COLUMNS counts where there is no terminal. */
export function lookOf(world: World): Look {
  const { stdout, env, machine } = world;
  const given = Number(env.get("COLUMNS") ?? NaN);
  const columns = stdout.columns ?? (Number.isInteger(given) && given > 0 ? given : USUAL_COLUMNS);
  return { columns, color: !isPlain(world), ascii: isAscii(env, machine.os) || env.get("TERM") === "dumb" };
}

/** POSIX: the first that is set counts. Consoles of Windows and macOS have UTF-8 without a word about it. */
function isAscii(env: World["env"], os: World["machine"]["os"]): boolean {
  const locale = ["LC_ALL", "LC_CTYPE", "LANG"].map((name) => env.get(name) ?? "").find((value) => value !== "");
  if (locale === undefined) return os === "linux";
  return !/utf-?8/i.test(locale);
}
