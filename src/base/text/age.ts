const UNITS: readonly (readonly [seconds: number, name: string])[] = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];

/** Formats an age with its two largest units: `3d 4h`, `2h 5m`, `45s`. */
export function ageText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const first = UNITS.findIndex(([size]) => whole >= size);
  if (first < 0) return "0s";
  const parts: string[] = [];
  let left = whole;
  for (const [size, name] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count}${name}`);
  }
  return parts.join(" ");
}
