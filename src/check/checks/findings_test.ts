import assert from "node:assert/strict";
import { findingOf, type Problem } from "./findings.ts";

const problem = (object: string, result: Problem["result"]): Problem => ({ object, result, message: "is odd" });

Deno.test("advice names the first object, and errors come before warnings", () => {
  const problems = [problem("pod/shop/a", "warning"), problem("pod/shop/b", "error"), problem("node/c", "warning")];
  const advice = ({ kind, namespace, name }: { kind: string; namespace: string; name: string }) =>
    `see ${kind} ${name} of ${namespace}`;
  assert.equal(findingOf(problems, advice).message?.split("\n").at(-1), "see pod b of shop");
  assert.equal(findingOf([problem("node/c", "error")], advice).message?.split("\n").at(-1), "see node c of ");
  assert.deepEqual(findingOf([], advice), { result: "ok" });
});

Deno.test("the message has the first objects, the list all of them", () => {
  const problems = Array.from({ length: 12 }, (_, index) => problem(`pod/shop/${index}`, "error"));
  const { message = "", objects = [] } = findingOf(problems, "mend them");
  assert.deepEqual(message.split("\n").slice(-3), ["pod/shop/9: is odd", "and 2 more", "mend them"]);
  assert.equal(objects.length, 12);
});
