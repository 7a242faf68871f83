/** How wide the output may be. */
import type { World } from "../../core/world/mod.ts";

/** What is taken where the width is not known, and the least. */
const USUAL = 80;

/** The columns of the terminal, or what COLUMNS says (POSIX); 80 at least. */
export function widthOf({ env, stdout }: Pick<World, "env" | "stdout">): number {
  const said = env.get("COLUMNS") ?? "";
  const columns = /^[1-9]\d{0,4}$/.test(said) ? Number(said) : stdout.columns ?? USUAL;
  return Math.max(USUAL, columns);
}
