import assert from "node:assert/strict";
import { filesBelow, read } from "./source.ts";

const NETWORK = "src/platform/deno/network";
/** What speaks TLS as a client, and the files that may use it: each empties the runtime's default store of roots before. */
const CLIENTS: readonly (readonly [pattern: RegExp, files: readonly string[]])[] = [
  [/Deno\.createHttpClient\(/, [`${NETWORK}/trust.ts`]],
  [/Deno\.(?:connectTls|startTls)\(/, [`${NETWORK}/tls.ts`]],
  [/(?<![.\w])fetch\((?!url: string)/, [`${NETWORK}/fetch.ts`]],
  [/globalThis\.fetch/, []],
  [/new WebSocket(?:Stream)?\(/, [`${NETWORK}/web_socket.ts`]],
  [/from "node:(?:tls|https|http|http2)"/, [`${NETWORK}/insecure_tls.ts`]],
  [/(?:BuiltinModule|import|require)\("node:(?:tls|https|http|http2)"/, [`${NETWORK}/trust.ts`]],
];

Deno.test("TLS clients are made in the files that empty the default store of roots, and nowhere else", () => {
  const files = filesBelow("src").filter((path) => /(?<!_test)\.ts$/.test(path) && !path.includes("/testdata/"));
  for (const [pattern, expected] of CLIENTS) {
    const found = files.filter((path) => pattern.test(withoutComments(read(path))));
    assert.deepEqual(found, [...expected], String(pattern));
  }
  for (const path of [`${NETWORK}/tls.ts`, `${NETWORK}/fetch.ts`, `${NETWORK}/insecure_tls.ts`]) {
    assert.match(read(path), /^ +emptyDefaultStore\(\);$/m, path);
  }
});

function withoutComments(text: string): string {
  return text.replace(/\/\*\*[^]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}
