const MIB = 1024 * 1024;

/** A limit in words: `16 MiB` where it is a whole number of them, else `400 characters`. */
export function sizeText(size: number, unit: string): string {
  return size % MIB === 0 ? `${size / MIB} MiB` : `${size} ${unit}`;
}
