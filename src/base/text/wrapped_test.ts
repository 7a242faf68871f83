import assert from "node:assert/strict";
import { wrapped, wrappedAround, wrappedBeforeCommand } from "./wrapped.ts";

Deno.test("lines are broken at spaces, and a long word keeps its line", () => {
  assert.deepEqual(wrapped("a bc def", 4), ["a bc", "def"]);
  assert.deepEqual(wrapped("ab abcdefgh c", 4), ["ab", "abcdefgh", "c"]);
  assert.deepEqual(wrapped("", 4), [""]);
});

Deno.test("what is in quotes is not broken where it fits", () => {
  assert.deepEqual(wrappedAround('see "kubectl get pods" there', 20), ["see", '"kubectl get pods"', "there"]);
  assert.deepEqual(wrappedAround('"a b c d e"', 5), ['"a b', "c d", 'e"']);
  assert.deepEqual(wrappedAround('an odd " quote', 8), ['an odd "', "quote"]);
  assert.deepEqual(wrappedAround('(key "a b"): c', 12), ['(key "a b"):', "c"].flatMap((line) => line));
});

Deno.test("a command at the end that does not fit gets its own line, whole", () => {
  assert.deepEqual(wrappedBeforeCommand("see its log: kubectl logs web", 40), ["see its log: kubectl logs web"]);
  assert.deepEqual(wrappedBeforeCommand("see its log: kubectl logs web", 15), ["see its log:", "kubectl logs web"]);
  assert.deepEqual(wrappedBeforeCommand("see its whole log", 12), ["see its", "whole log"]);
});
