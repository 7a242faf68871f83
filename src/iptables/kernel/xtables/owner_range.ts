import type { OwnerNames } from "./rule_options.ts";

/** Returns the first and last ID of a user or group, such as `1337`, `1000-2000` or a known name. */
export function ownerRange(
  { kind, owner }: { readonly kind: "uid" | "gid"; readonly owner: string },
  { users, groups }: OwnerNames,
): readonly [first: number, last: number] {
  const named = (kind === "uid" ? users : groups).get(owner);
  const [first = "", last = first] = owner.split("-");
  return named === undefined ? [Number(first), Number(last)] : [named, named];
}
