/** Quotes an argument for a POSIX shell, if it needs quotes. */
export function shellQuoted(text: string): string {
  return /^[\w./=:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
