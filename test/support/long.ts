/** An argument after `--` of `deno test`, which `tools/deno task test long` passes to each process. */
export const LONG = "--long";

/** Whether tests run in their long form, with the number of repetitions in docs/reliability.md. */
export function isLong(): boolean {
  return Deno.args.includes(LONG);
}

/** Prints a result of a long run, for docs/reliability.md. */
export function printFigure(figure: string): void {
  // deno-lint-ignore no-console
  if (isLong()) console.log(figure);
}
