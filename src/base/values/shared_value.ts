/** Tracks values that many documents share as the same objects, so that results for them are computed only once. */
import { isList, type Value } from "../value.ts";

const shared = new WeakSet<object>();

/** Declares a value and all values in it as shared. Do not change these values afterwards. */
export function share(value: Value): void {
  if (typeof value !== "object" || value === null || shared.has(value)) return;
  shared.add(value);
  if (isList(value)) { for (const item of value) share(item); }
  else for (const key in value) share(value[key] ?? null);
}

/** Whether a value is a mapping or list that was declared shared. */
export function isShared(value: Value): value is Extract<Value, object> {
  return typeof value === "object" && value !== null && shared.has(value);
}

/** Returns a function that caches its result for each object, as long as the object is in use. */
export function oncePer<Key extends object, Answer>(ask: (key: Key) => Answer): (key: Key) => Answer {
  const known = new WeakMap<Key, { readonly answer: Answer }>();
  return (key) => {
    let kept = known.get(key);
    if (kept === undefined) known.set(key, kept = { answer: ask(key) });
    return kept.answer;
  };
}

/** Returns a function that caches its results for shared values. The result must depend on the value alone. */
export function onceForShared<Answer>(ask: (value: Value) => Answer): (value: Value) => Answer {
  const once = oncePer<Extract<Value, object>, Answer>(ask);
  return (value) => isShared(value) ? once(value) : ask(value);
}
