import assert from "node:assert/strict";
import { listenPlan } from "../server/listen.ts";
import { readResolvConf } from "./resolv_conf.ts";
import { nameOf } from "../wire.ts";

Deno.test("readResolvConf(): servers in order, the first search domain of the last line, no comments", () => {
  const conf = readResolvConf(`# nameserver 9.9.9.9
; search no.example
domain first.example
nameserver 10.96.0.10
nameserver fd00::10
nameserver fe80::1%eth0
nameserver dns.example
nameserver
search\tns1.svc.cluster.local svc.cluster.local
options ndots:5
`);
  assert.deepEqual(conf.servers.map(({ host, port }) => `${host} ${port}`), [
    "10.96.0.10 53",
    "fd00::10 53",
    "fe80::1%eth0 53",
  ]);
  assert.deepEqual([nameOf(conf.search ?? ""), conf.invalid], ["ns1.svc.cluster.local", ["dns.example"]]);
  assert.equal(readResolvConf("search .").search, undefined);
  assert.deepEqual(readResolvConf(""), { servers: [], search: undefined, invalid: [] });
});

Deno.test("listenPlan(): localhost covers the families of the servers", () => {
  const plan = (address: string, text: string) => {
    const { hosts, port } = listenPlan(address, readResolvConf(text).servers);
    return `${hosts.join(" ")} ${port}`;
  };
  const [v4, v6] = ["nameserver 10.96.0.10\n", "nameserver fd00::10\n"];
  assert.equal(plan("localhost:15053", v4), "127.0.0.1 15053");
  assert.equal(plan("localhost:15053", v6), "::1 15053");
  assert.equal(plan("localhost:15053", v6 + v4), "127.0.0.1 ::1 15053");
  assert.equal(plan("localhost:15053", ""), "127.0.0.1 15053");
  assert.equal(plan("[::1]:53", v4), "::1 53");
  assert.equal(plan(":53", v4), "0.0.0.0 53");
  for (const wrong of ["localhost", "localhost:dns", "localhost:70000"]) {
    assert.throws(() => plan(wrong, v4), /"DNS_PROXY_ADDR" is "localhost/);
  }
});
