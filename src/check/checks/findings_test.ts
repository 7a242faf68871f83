import assert from "node:assert/strict";
import { shownText } from "../../../test/support/kube/shown.ts";
import { byHand, harmless } from "../advice/advice.ts";
import { type Named, shows } from "../advice/commands.ts";
import { findingOf, type Problem } from "./findings.ts";

const problem = (object: string, result: Problem["result"]): Problem => ({ object, result, message: "is odd" });

Deno.test("errors come before warnings, and objects with the same repair share a fix", async () => {
  const problems = [problem("pod/shop/a", "warning"), problem("pod/shop/b", "error"), problem("node/c", "warning")];
  const advice = (
    { kind, namespace, name }: Named,
  ) => [harmless("mend it", "mesh", shows("mend", kind, namespace, name))];
  const finding = findingOf(problems, advice);
  assert.deepEqual(finding.objects, ["pod/shop/b", "pod/shop/a", "node/c"]);
  assert.deepEqual((await shownText(finding)).split("\n").slice(3), [
    "fix: mend it:",
    "kubectl mend pod shop b",
    "kubectl mend pod shop a",
    "kubectl mend node '' c",
  ]);
  assert.deepEqual(findingOf([], advice), { result: "ok" });
});

Deno.test("objects with different repairs have separate fixes", async () => {
  const own = (object: string, change: string): Problem => ({ ...problem(object, "error"), advice: [byHand(change)] });
  const finding = findingOf([own("node/a", "x"), own("node/b", "y"), own("node/c", "x")]);
  assert.deepEqual((await shownText(finding)).split("\n").slice(3), [
    "fix of node/a and 1 more: x",
    "fix of node/b: y",
  ]);
});

Deno.test("the message names the first ten objects, and the list names all", () => {
  const problems = Array.from({ length: 12 }, (_, index) => problem(`pod/shop/${index}`, "error"));
  const { message = "", objects = [] } = findingOf(problems);
  assert.deepEqual(message.split("\n").slice(-2), ["pod/shop/9: is odd", "and 2 more"]);
  assert.equal(objects.length, 12);
});

Deno.test("notes keep the check ok, take one line, and are left out if there are problems", () => {
  const notes = [problem("pod/shop/a", "note"), problem("pod/shop/b", "note"), problem("pod/shop/b", "note")];
  assert.deepEqual(findingOf(notes), {
    result: "ok",
    message: "worth knowing: pod/shop/a: is odd, and 2 more like it",
    objects: ["pod/shop/a", "pod/shop/b"],
  });
  assert.equal(findingOf(notes.slice(0, 1)).message, "worth knowing: pod/shop/a: is odd");
  const { result, message, objects } = findingOf([...notes, problem("pod/shop/c", "warning")]);
  assert.deepEqual([result, message, objects], ["warning", "pod/shop/c: is odd", ["pod/shop/c"]]);
});
