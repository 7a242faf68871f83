import assert from "node:assert/strict";
import { type ConnectionFlags, readConnection } from "./read_connection.ts";

function read(flags: Partial<ConnectionFlags>) {
  const none = { to: undefined, from: undefined, toPort: undefined, method: undefined, header: [], sni: undefined };
  return readConnection({ ...none, ...flags });
}

/** Flags, and the direction, host, port, path, protocol and server name of the connection. */
const CASES: readonly (readonly [Partial<ConnectionFlags>, readonly unknown[]])[] = [
  [{ to: "reviews:9080/api?x=1" }, ["outbound", "reviews", 9080, "/api?x=1", "http", undefined]],
  [{ to: "reviews:9080" }, ["outbound", "reviews", 9080, "/", "unsaid", undefined]],
  [{ to: "10.0.0.1:80", header: ["Host:a, b"] }, ["outbound", "10.0.0.1", 80, "/", "http", undefined]],
  [{ to: "[2001:db8::1]:80/" }, ["outbound", "2001:db8::1", 80, "/", "http", undefined]],
  [{ to: "http://reviews/x" }, ["outbound", "reviews", 80, "/x", "http", undefined]],
  [{ to: "https://api.example.com" }, ["outbound", "api.example.com", 443, "/", "tls", "api.example.com"]],
  [{ to: "10.0.0.1:443", sni: "a.b" }, ["outbound", "10.0.0.1", 443, "/", "tls", "a.b"]],
  [{ to: "tcp://db:3306" }, ["outbound", "db", 3306, "/", "tcp", undefined]],
  [{ from: "10.1.9.9", toPort: 80, header: [":path:/x?y"] }, ["inbound", "10.1.9.9", 80, "/x?y", "http", undefined]],
  [{ to: "a:80?q" }, ["outbound", "a", 80, "/?q", "http", undefined]],
  [{ from: "10.1.9.9", toPort: 8080 }, ["inbound", "10.1.9.9", 8080, "/", "unsaid", undefined]],
];

for (const [flags, expected] of CASES) {
  Deno.test(`readConnection: ${JSON.stringify(flags)}`, () => {
    const it = read(flags);
    assert.deepEqual([it?.direction, it?.host, it?.port, it?.path, it?.spoken, it?.sni], expected);
  });
}

const WRONG: readonly (readonly [Partial<ConnectionFlags>, RegExp])[] = [
  [{ to: "reviews" }, /"reviews" does not have a port/],
  [{ to: "reviews:0" }, /not have a port from 1/],
  [{ to: "reviews:70000/x" }, /not have a port from 1/],
  [{ to: "a_b c:80" }, /neither a host name nor an IP address/],
  [{ to: "tcp://a" }, /does not have a port/],
  [{ to: "ftp://a" }, /is not http, https/],
  [{ to: "a:80", from: "10.0.0.1" }, /cannot be combined/],
  [{ from: "web", toPort: 80 }, /not an IP address/],
  [{ from: "10.0.0.1" }, /--from needs --to-port/],
  [{ to: "a:80", header: ["x"] }, /NAME:VALUE/],
  [{ to: "a:80", method: "G T" }, /not an HTTP method/],
  [{ method: "GET" }, /--method needs --to or --from/],
];

for (const [flags, expected] of WRONG) {
  Deno.test(`readConnection refuses ${JSON.stringify(flags)}`, () => assert.throws(() => read(flags), expected));
}

Deno.test("readConnection: no flag is no connection; a header keeps its commas and its name gets lower case", () => {
  assert.equal(read({}), undefined);
  assert.deepEqual(read({ to: "a:80", header: ["Accept: a, b", "x=y"] })?.headers, [
    { name: "accept", value: "a, b" },
    { name: "x", value: "y" },
  ]);
});
