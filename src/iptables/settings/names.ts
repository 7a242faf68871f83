/** Users and groups of the machine: `/etc/passwd` and `/etc/group` (passwd(5), group(5)). */
import type { Names } from "./values.ts";

/** Names and numbers of such a file; lines that are none are passed over. The first of two of a name counts. */
export function parseNames(text: string): Names {
  const names = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [name = "", , id = ""] = line.split(":");
    if (name !== "" && !name.startsWith("#") && /^\d+$/.test(id) && !names.has(name)) names.set(name, Number(id));
  }
  return names;
}
