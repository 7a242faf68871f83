import assert from "node:assert/strict";
import { shownUrl, withShownUrls } from "./shown_url.ts";

Deno.test("shownUrl() leaves out what may be a credential", () => {
  const cases = [
    ["https://host.test/a.yaml", "https://host.test/a.yaml"],
    ["https://HOST.test", "https://HOST.test"],
    ["https://user:secret@host.test/a.yaml#secret", "https://host.test/a.yaml"],
    ["https://secret@host.test:8443/a?token=secret&b=c", "https://host.test:8443/a?[redacted]"],
    ["https://user:secret@ho st/a?secret", "https://ho st/a"],
    ["user:secret@host.test/a", "host.test/a"],
    ["file:///etc/a@b", "file:///etc/a@b"],
    ["a.yaml", "a.yaml"],
  ] as const;
  for (const [url, shown] of cases) assert.equal(shownUrl(url), shown);
});

Deno.test("withShownUrls() does so for each URL in a text", () => {
  const text = "error for url (https://user:secret@a.test/?secret): see http://b.test/x";
  assert.equal(withShownUrls(text), "error for url (https://a.test/?[redacted]): see http://b.test/x");
});
