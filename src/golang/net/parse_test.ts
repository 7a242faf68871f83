import assert from "node:assert/strict";
import {
  goTrim,
  hostPortProblem,
  interfaceNameProblem,
  isDnsLabel,
  isHostName,
  isLowerDnsLabel,
  parseAddress,
  parseCidr,
  parseCidrList,
  parsePort,
  parsePortList,
  parseUint,
  splitHostPort,
} from "./parse.ts";

Deno.test("parseUint reads digits within the bits, and explains other texts", () => {
  assert.equal(parseUint("00255", 8), 255);
  assert.equal(parseUint("256", 8), "256 is more than 255");
  assert.equal(parseUint("", 16), "it is empty");
  assert.equal(parseUint("-1", 16), '"-1" is not a whole number');
  assert.equal(
    parseUint("123456789012345678901234567890", 32),
    "123456789012345678901234567890 is more than 4294967295",
  );
});

Deno.test("parsePort and parsePortList ignore spaces around ports", () => {
  assert.equal(parsePort(" 80\t"), 80);
  assert.deepEqual(parsePortList(" 80, 443 ,15090"), [80, 443, 15090]);
  assert.deepEqual(parsePortList(""), []);
  assert.equal(parsePortList("80,"), "it is empty");
});

Deno.test("parseAddress gives the bits of both families", () => {
  assert.deepEqual(parseAddress("10.0.0.1"), { family: 4, value: 0x0a000001n, zone: "" });
  assert.deepEqual(parseAddress("::1"), { family: 6, value: 1n, zone: "" });
  assert.deepEqual(parseAddress("fe80::1%eth0"), { family: 6, value: 0xfe80n << 112n | 1n, zone: "eth0" });
  assert.deepEqual(parseAddress("::ffff:1.2.3.4"), { family: 6, value: 0xffff01020304n, zone: "" });
  for (const text of ["", "1.2.3", "01.2.3.4", "1:2", "1::2::3", "::1%", "1.2.3.4%a", ":::"]) {
    assert.equal(parseAddress(text), `"${text}" is not an IP address`);
  }
});

Deno.test("parseCidr keeps the bits after the prefix", () => {
  assert.deepEqual(parseCidr("10.0.0.1/8"), { address: { family: 4, value: 0x0a000001n, zone: "" }, bits: 8 });
  assert.equal(parseCidr("10.0.0.1"), '"10.0.0.1" has no prefix length after a "/"');
  assert.equal(parseCidr("10.0.0.1/33"), '"33" is not a prefix length from 0 to 32');
  assert.equal(parseCidr("fe80::1%e/64"), '"fe80::1%e/64" has a zone');
});

Deno.test("parseCidrList allows no spaces and no empty item", () => {
  const list = parseCidrList("10.0.0.0/8,::/0");
  assert.deepEqual(typeof list === "string" ? list : list.map((cidr) => cidr.bits), [8, 0]);
  assert.deepEqual(parseCidrList(""), []);
  assert.equal(typeof parseCidrList("10.0.0.0/8, ::/0"), "string");
  assert.equal(typeof parseCidrList("10.0.0.0/8,"), "string");
});

Deno.test("goTrim trims Unicode white space but no byte order mark", () => {
  assert.equal(goTrim("\u2003\t a b\u00a0\n"), "a b");
  assert.equal(goTrim("\ufeffa"), "\ufeffa");
});

Deno.test("splitHostPort takes brackets off an IPv6 host", () => {
  assert.deepEqual(splitHostPort("a:1"), { host: "a", port: "1" });
  assert.deepEqual(splitHostPort("[::1]:80"), { host: "::1", port: "80" });
  assert.deepEqual(splitHostPort(":80"), { host: "", port: "80" });
  for (const text of ["a", "a:b:c", "::1:80", "[::1", "[a]b:1", "[[a]:1"]) {
    assert.equal(typeof splitHostPort(text), "string", text);
  }
});

Deno.test("isDnsLabel and isHostName take letters, digits and inner hyphens", () => {
  assert.deepEqual(["a", "A-1", "1a", "x".repeat(63)].map(isDnsLabel), [true, true, true, true]);
  assert.deepEqual(["", "-a", "a-", "a_b", "x".repeat(64)].map(isDnsLabel), [false, false, false, false, false]);
  assert.deepEqual(["a.b", "istiod.istio-system.svc", "a.b."].map(isHostName), [true, true, true]);
  assert.deepEqual(["", "a..b", "a.1", "a_b.c", `${"x.".repeat(130)}a`].map(isHostName), Array(5).fill(false));
});

Deno.test("hostPortProblem wants a host name or IP and a port from 1", () => {
  for (const text of ["a.b:15012", "10.0.0.1:1", "[::1]:65535"]) assert.equal(hostPortProblem(text), undefined, text);
  assert.equal(hostPortProblem("a"), '"a" has no port');
  assert.equal(hostPortProblem("a:0"), "the port 0 is not from 1 to 65535");
  assert.equal(hostPortProblem("a:x"), 'the port is invalid: "x" is not a whole number');
  assert.equal(hostPortProblem("a_b:1"), '"a_b" is neither a host name nor an IP address');
});

Deno.test("interfaceNameProblem allows at most 15 characters", () => {
  assert.equal(interfaceNameProblem("abcdefghijklmno"), undefined);
  assert.equal(
    interfaceNameProblem("abcdefghijklmnop"),
    'the interface name "abcdefghijklmnop" is longer than 15 characters',
  );
  assert.equal(interfaceNameProblem("1eth"), '"1eth" is not an interface name');
  assert.equal(interfaceNameProblem(""), "an interface name is empty");
});

Deno.test("isLowerDnsLabel() accepts up to 63 lower-case letters, digits and - between them", () => {
  for (const text of ["a", "1-20", "shop", "a".repeat(63)]) assert.ok(isLowerDnsLabel(text), text);
  for (const text of ["", "Shop", "a_b", "a.b", "-a", "a-", "a\n", "a".repeat(64)]) {
    assert.ok(!isLowerDnsLabel(text), text);
  }
});
