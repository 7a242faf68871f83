import assert from "node:assert/strict";
import { re2Library } from "../../golang/re2.ts";
import type { ValueMap } from "../../base/value.ts";
import { readRouteConfig } from "../envoy/route_config.ts";
import type { Connection } from "../question/question.ts";
import { normalizePath, requestOf } from "./request.ts";
import { routeMatchText, routesFor } from "./route_search.ts";

await re2Library.loaded();

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isTls?: boolean;
}

function request(path: string, { method = "GET", headers = {}, isTls = false }: Asked = {}) {
  const connection: Connection = {
    direction: "outbound",
    host: "a",
    port: 80,
    spoken: "http",
    method,
    path,
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
    sni: undefined,
  };
  return requestOf(connection, "a", { isTls, hasClientCertificate: isTls });
}

/** Returns whether a route with this match matches the request: `yes`, `no`, or `unknown`. */
function taken(match: ValueMap, path: string, asked: Asked = {}): string {
  const config = readRouteConfig({
    virtual_hosts: [{ name: "v", domains: ["*"], routes: [{ match, route: { cluster: "c" } }] }],
  });
  const [host] = config.virtualHosts;
  assert.ok(host !== undefined);
  const [choice] = routesFor(host, config, request(path, asked));
  return choice === undefined ? "no" : choice.unknown === "" ? "yes" : "unknown";
}

const header = (matcher: ValueMap): ValueMap => ({ prefix: "/", headers: [matcher] });
const query = (matcher: ValueMap): ValueMap => ({ prefix: "/", query_parameters: [matcher] });

/** A match, a path, other properties of the request, and whether the route matches. */
const CASES: readonly (readonly [ValueMap, string, Asked, string])[] = [
  [{ prefix: "/a" }, "/ab?x", {}, "yes"],
  [{ prefix: "/a" }, "/A", {}, "no"],
  [{ prefix: "/a", case_sensitive: false }, "/A", {}, "yes"],
  [{ path: "/a" }, "/a?x=1", {}, "yes"],
  [{ path: "/a" }, "/a/", {}, "no"],
  [{ path_separated_prefix: "/a" }, "/a", {}, "yes"],
  [{ path_separated_prefix: "/a" }, "/a/b", {}, "yes"],
  [{ path_separated_prefix: "/a" }, "/ab", {}, "no"],
  [{ safe_regex: { regex: "/[0-9]+" } }, "/12", {}, "yes"],
  [{ safe_regex: { regex: "/[0-9]+" } }, "/12/", {}, "no"],
  [{ safe_regex: { regex: "(" } }, "/", {}, "unknown"],
  [{ connect_matcher: {} }, "/", { method: "CONNECT" }, "yes"],
  [{ connect_matcher: {} }, "/", {}, "no"],
  [{ path_match_policy: { name: "uri_template" } }, "/", {}, "unknown"],
  [{ prefix: "/", grpc: {} }, "/", { headers: { "content-type": "application/grpc+proto" } }, "yes"],
  [{ prefix: "/", grpc: {} }, "/", { headers: { "content-type": "application/json" } }, "no"],
  [{ prefix: "/", tls_context: { presented: true } }, "/", {}, "no"],
  [{ prefix: "/", tls_context: { presented: true } }, "/", { isTls: true }, "yes"],
  [{ prefix: "/", dynamic_metadata: [{ filter: "x" }] }, "/", {}, "unknown"],
  [header({ name: ":method", string_match: { exact: "POST" } }), "/", { method: "POST" }, "yes"],
  [header({ name: ":path", string_match: { suffix: "?q" } }), "/x?q", {}, "yes"],
  [header({ name: "X-A", string_match: { exact: "1" } }), "/", { headers: { "x-a": "1" } }, "yes"],
  [
    header({ name: "x-a", string_match: { contains: "B", ignore_case: true } }),
    "/",
    { headers: { "x-a": "abc" } },
    "yes",
  ],
  [header({ name: "x-a", exact_match: "1" }), "/", { headers: { "x-a": "2" } }, "no"],
  [header({ name: "x-a", safe_regex_match: { regex: "v." } }), "/", { headers: { "x-a": "v2" } }, "yes"],
  [header({ name: "x-a", invert_match: true, string_match: { exact: "1" } }), "/", { headers: { "x-a": "2" } }, "yes"],
  [header({ name: "x-a", invert_match: true, string_match: { exact: "1" } }), "/", {}, "no"],
  [
    header({ name: "x-a", invert_match: true, string_match: { exact: "1" }, treat_missing_header_as_empty: true }),
    "/",
    {},
    "yes",
  ],
  [header({ name: "x-a", present_match: true }), "/", {}, "no"],
  [header({ name: "x-a", present_match: false }), "/", {}, "yes"],
  [header({ name: "x-a", present_match: true, invert_match: true }), "/", {}, "yes"],
  [header({ name: "x-a" }), "/", { headers: { "x-a": "" } }, "yes"],
  [header({ name: "x-a", range_match: { start: "1", end: "3" } }), "/", { headers: { "x-a": "2" } }, "yes"],
  [header({ name: "x-a", range_match: { start: "1", end: "3" } }), "/", { headers: { "x-a": "3" } }, "no"],
  [header({ name: "x-a", string_match: { custom: {} } }), "/", { headers: { "x-a": "3" } }, "unknown"],
  [query({ name: "b", string_match: { exact: "1" } }), "/?a=2&b=1&b=2", {}, "yes"],
  [query({ name: "b", string_match: { exact: "2" } }), "/?b=1&b=2", {}, "no"],
  [query({ name: "b" }), "/?b", {}, "yes"],
  [query({ name: "b", present_match: false }), "/", {}, "yes"],
  [query({ name: "b", string_match: { safe_regex: { regex: "[0-9]+" } } }), "/?b=1a", {}, "no"],
];

for (const [match, path, asked, expected] of CASES) {
  Deno.test(`routesFor: ${JSON.stringify(match)} and ${path} ${JSON.stringify(asked)}: ${expected}`, () => {
    assert.equal(taken(match, path, asked), expected);
    assert.ok(
      routeMatchText(readRouteConfig({ virtual_hosts: [{ routes: [{ match }] }] }).virtualHosts[0]!.routes[0]!.match),
    );
  });
}

Deno.test("routesFor: shares of requests leave the rest to the next routes, until one takes all", () => {
  const share = (numerator: number) => ({ runtime_fraction: { default_value: { numerator } } });
  const routes = [
    { name: "none", match: { prefix: "/", ...share(0) }, route: { cluster: "a" } },
    { name: "some", match: { prefix: "/", ...share(40) }, route: { cluster: "b" } },
    { name: "half", match: { prefix: "/", ...share(50) }, route: { cluster: "c" } },
    { name: "rest", match: { prefix: "/" }, route: { cluster: "d" } },
    { name: "never", match: { prefix: "/" }, route: { cluster: "e" } },
  ];
  const config = readRouteConfig({ virtual_hosts: [{ name: "v", domains: ["*"], routes }] });
  const [host] = config.virtualHosts;
  assert.ok(host !== undefined);
  const choices = routesFor(host, config, request("/"));
  assert.deepEqual(choices.map(({ route, share }) => [route.name, Number(share.toFixed(3))]), [
    ["some", 0.4],
    ["half", 0.3],
    ["rest", 0.3],
  ]);
});

Deno.test("normalizePath: dot segments, unreserved escapes, backslashes and double slashes", () => {
  const both = { normalizesPath: true, mergesSlashes: true };
  const texts = ["/a/../b?x=/../y", "/%61/%2e%2e/c", "/a//b", "/a/.", "/..", "/%2F", "/a\\b"];
  assert.deepEqual(texts.map((text) => normalizePath(text, both)), [
    "/b?x=/../y",
    "/c",
    "/a/b",
    "/a/",
    "/",
    "/%2F",
    "/a/b",
  ]);
  assert.equal(normalizePath("/a/../b//c", { normalizesPath: false, mergesSlashes: false }), "/a/../b//c");
});
