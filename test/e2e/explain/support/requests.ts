/** The requests of the test: a fixed list, and generated ones. The same on every run. */

import type { Sent } from "../../../support/explain_requests.ts";

type Http = Omit<Sent, "kind" | "from" | "host">;

function http(host: string, port: number, request: Partial<Http> = {}): Sent {
  return { kind: "http", from: "application", ip: "10.96.1.1", port, host, method: "GET", path: "/", ...request };
}

function tls(sni: string, ip: string, port: number): Sent {
  return { kind: "tls", from: "application", ip, port, sni };
}

function tcp(ip: string, port: number): Sent {
  return { kind: "tcp", from: "application", ip, port };
}

/** Numbers from 0 to 1, always the same ones (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const HOSTS = [
  "reviews",
  "reviews",
  "reviews",
  "reviews:9080",
  "REVIEWS.default",
  "reviews.default.svc.cluster.local",
  "ratings",
  "details",
  "a.wild.local",
  "x.a.wild.local",
  "a.a.wild.local",
  "q-b.wild.local",
  "-b.wild.local",
  "wild.local",
  ".wild.local",
  "shop.de",
  "shop.eu.west",
  "shop.",
  "other.example.com",
  "10.96.1.1",
  "10.96.1.2:9080",
];

const PATHS = [
  "/",
  "/exact",
  "/exact/",
  "/exact?x=1",
  "/sep",
  "/sep/x",
  "/separate",
  "/items/7",
  "/items/x",
  "/items/7/8",
  "/mixedcase/z",
  "/any",
  "/Any/",
  "/wo",
  "/inv",
  "/range",
  "/present",
  "/absent",
  "/notpresent",
  "/form",
  "/?beta=1",
  "/x?beta=2",
  "/q?any",
  "/q?any=1&n=3",
  "/q?n=12",
  "/q?n=1a",
  "/grpc/x",
  "/share",
  "/weights/1",
  "/old/1",
  "/teapot",
  "/abort",
  "/maybe",
  "/nosub",
  "/named",
  "/empty",
  "/canary",
  "/only",
  "/only/x",
  "/onlyx",
  "/a/../exact",
  "/%65xact",
  "/./sep//x",
];

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  {},
  {},
  {},
  { "end-user": "jason" },
  { "end-user": "Jason" },
  { "x-skip": "yes" },
  { "x-skip": "no" },
  { "x-num": "10" },
  { "x-num": "20" },
  { "x-num": "15x" },
  { "x-present": "1" },
  { "x-v": "the-end" },
  { "x-v": "amidst" },
  { "x-v": "pre-x" },
  { "x-v": "v2" },
  { "x-v": "v22" },
  { "content-type": "application/grpc" },
  { "content-type": "application/grpc+proto" },
  { "content-type": "application/grpcx" },
  { "x-fault": "on" },
  { "x-cluster": "outbound|9080||ratings.default.svc.cluster.local" },
  { "x-cluster": "nowhere" },
];

/** Every path, every header with a random path, every host, and random combinations. */
function generated(count: number): Sent[] {
  const next = numbers(17);
  const pick = <T>(values: readonly T[], fallback: T): T => values[Math.floor(next() * values.length)] ?? fallback;
  const made = (host: string, path: string, headers: Readonly<Record<string, string>>) =>
    http(host, next() < 0.9 ? 9080 : 8888, { path, headers, method: pick(["GET", "GET", "POST"], "GET") });
  return [
    ...PATHS.map((path) => made("reviews", path, {})),
    ...HEADERS.map((headers) => made("reviews", pick(PATHS, "/"), headers)),
    ...HOSTS.map((host) => made(host, "/", {})),
    ...Array.from({ length: count }, () => made(pick(HOSTS, ""), pick(PATHS, "/"), pick(HEADERS, {}))),
  ];
}

const FIXED: readonly Sent[] = [
  http("api.example.com", 80, { path: "/v2/x" }),
  http("api.example.com", 80, { path: "/v1" }),
  http("nodes", 80, { ip: "10.77.0.34" }),
  http("n0.nodes", 80, { ip: "10.77.0.33" }),
  ...["failover", "half", "half", "half", "down", "panic", "panic", "empty", "degraded", "tight"].map((host) =>
    http(host, 80)
  ),
  http("routed", 80, { headers: { "x-envoy-original-dst-host": "10.77.0.99:8080" } }),
  http("routed", 80),
  http("unknown.example.com", 80, { ip: "10.77.0.60" }),
  http("strict", 8000),
  http("strict:8000", 8000),
  http("strict:80", 8000),
  http("noslash", 8000),
  http("noslash", 8000, { path: "/only" }),
  http("other", 8000),
  http("anything", 9090),
  http("reviews", 9080, { ip: "10.96.1.9" }),
  http("nowhere", 4711, { ip: "10.77.0.46" }),
  tcp("10.96.1.9", 9080),
  tcp("10.96.1.7", 6379),
  ...Array.from({ length: 6 }, () => tcp("10.96.1.6", 3306)),
  tcp("10.77.0.35", 7001),
  tcp("10.77.0.36", 7001),
  tcp("10.96.1.20", 3307),
  tcp("10.96.1.21", 3308),
  tcp("10.200.0.7", 27017),
  tcp("10.200.1.7", 27017),
  tcp("10.201.0.7", 27017),
  tcp("10.77.0.46", 3306),
  tcp("10.77.0.47", 8888),
  tls("api.example.com", "10.77.0.50", 443),
  tls("API.example.com", "10.77.0.50", 443),
  tls("x.example.com", "10.77.0.50", 443),
  tls("x.wild.example.com", "10.77.0.50", 443),
  tls("wild.example.com", "10.77.0.50", 443),
  tls("a.b.wild.example.com", "10.77.0.50", 443),
  tls("example.com", "10.77.0.50", 443),
  tls("other.org", "10.77.0.51", 443),
  tls("secure.default.svc.cluster.local", "10.96.1.8", 8443),
  tls("other.example.com", "10.96.1.8", 8443),
  tls("any.example.com", "10.77.0.52", 8888),
  tls("api.example.com", "10.77.0.52", 4712),
];

/** The address of the pod of `test/e2e/iptables/support`. */
const POD = "10.199.0.2";

function inboundHttp(port: number, method: string, path: string, headers: Readonly<Record<string, string>> = {}): Sent {
  return { kind: "http", from: "outside", ip: POD, port, host: "web", method, path, headers };
}

const INBOUND: readonly Sent[] = [
  inboundHttp(8080, "GET", "/"),
  inboundHttp(8081, "GET", "/"),
  inboundHttp(8081, "GET", "/admin/x"),
  inboundHttp(8081, "POST", "/"),
  inboundHttp(8081, "POST", "/", { "x-token": "t" }),
  inboundHttp(8081, "POST", "/", { "x-token": "t", "x-no": "1" }),
  inboundHttp(8081, "POST", "/admin", { "x-token": "t" }),
  inboundHttp(9999, "GET", "/"),
  { kind: "tcp", from: "outside", ip: POD, port: 8082 },
  { kind: "tcp", from: "outside", ip: POD, port: 8083 },
  { kind: "tcp", from: "outside", ip: POD, port: 8084 },
];

/** All requests. */
export const REQUESTS: readonly Sent[] = [...FIXED, ...generated(140), ...INBOUND];
