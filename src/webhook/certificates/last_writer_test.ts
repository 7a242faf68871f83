import assert from "node:assert/strict";
import { byWhom, lastWriter } from "./last_writer.ts";

Deno.test("the manager of the latest entry wrote an object last", () => {
  const entry = (manager: string, time: string) => ({ manager, operation: "Update", time });
  const managedFields = [entry("helm", "2026-11-20T00:00:00Z"), entry("istiod", "2026-11-21T00:00:00Z"), {
    time: "2025",
  }];
  const writer = lastWriter({ metadata: { name: "injector", managedFields } });
  assert.equal(byWhom(writer), '; the last writer was "istiod"');
  assert.equal(byWhom(lastWriter({ metadata: { name: "injector" } })), "");
});
