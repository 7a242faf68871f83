import assert from "node:assert/strict";
import { isLoopback } from "./loopback.ts";

const YES = ["127.0.0.1", "127.255.0.6", "::1", "::ffff:127.0.0.1", "::ffff:7f00:2"];
const NO = ["10.0.0.1", "128.0.0.1", "::", "::2", "::ffff:10.0.0.1", "::127.0.0.1", "fe80::1", "localhost", ""];

for (const text of YES) Deno.test(`isLoopback(): ${text} is`, () => assert.equal(isLoopback(text), true));
for (const text of NO) Deno.test(`isLoopback(): "${text}" is not`, () => assert.equal(isLoopback(text), false));
