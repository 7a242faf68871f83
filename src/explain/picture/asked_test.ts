import assert from "node:assert/strict";
import { arrowOf, type Asked, titleOf } from "./asked.ts";

const CASES: readonly (readonly [pod: string, Asked, title: string, arrow: string])[] = [
  [
    "shop/a",
    { direction: "outbound", host: "web", port: 80, path: "/api" },
    "pod shop/a to web:80/api",
    "shop/a -> web:80/api",
  ],
  ["", { direction: "outbound", host: "fd00::1", port: 80, path: "/" }, "the pod to [fd00::1]:80", "- -> [fd00::1]:80"],
  [
    "shop/a",
    { direction: "inbound", host: "10.1.9.9", port: 9090, path: "/" },
    "10.1.9.9 to port 9090 of pod shop/a",
    "10.1.9.9 -> shop/a:9090",
  ],
  [
    "",
    { direction: "inbound", host: "fd00::1", port: 80, path: "/" },
    "fd00::1 to port 80 of the pod",
    "fd00::1 -> -:80",
  ],
];

for (const [pod, asked, title, arrow] of CASES) {
  Deno.test(`a connection is named from its client to its server: ${title}`, () => {
    assert.deepEqual([titleOf(pod, asked), arrowOf(pod, asked)], [title, arrow]);
  });
}
