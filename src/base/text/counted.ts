/** Returns a count with its noun: `1 pod`, `2 pods`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
