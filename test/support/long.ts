/** The argument that follows `--` of `deno test` in a long run: `tools/deno task test long` gives it to each process. */
export const LONG = "--long";

/** Whether tests run in their long form: with as many repetitions as docs/reliability.md says, not a few. */
export function isLong(): boolean {
  return Deno.args.includes(LONG);
}

/** Prints a figure of a long run, for docs/reliability.md. */
export function printFigure(figure: string): void {
  // deno-lint-ignore no-console
  if (isLong()) console.log(figure);
}
