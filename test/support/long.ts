/** Whether the tests that repeat a fault run as often as docs/reliability.md says (`MESH_LONG=1`), not a few times. */
export function isLong(): boolean {
  return (Deno.env.get("MESH_LONG") ?? "") !== "";
}

/** Prints a figure of a long run, for docs/reliability.md. */
export function tellFigure(figure: string): void {
  // deno-lint-ignore no-console
  if (isLong()) console.log(figure);
}
