/** Compares YAML and JSON values, tracks which values are shared, and identifies the items of a list. */
export { identitiesByField } from "./list_identity.ts";
export { longestAscending } from "./longest_ascending.ts";
export { copyMap, copyValue, sameValue } from "./same_value.ts";
export { isShared, onceForShared, oncePer, share } from "./shared_value.ts";
export { valueHash } from "./value_hash.ts";
