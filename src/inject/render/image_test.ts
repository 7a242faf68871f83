import assert from "node:assert/strict";
import { isMap, newMap, type ValueMap } from "../../base/value.ts";
import { proxyImage, proxyInitImage } from "./image.ts";
import { parseValues } from "../config/values.ts";

const GLOBAL = "hub: h, tag: 1.2-debug";

interface Row {
  readonly why: string;
  readonly global?: string;
  readonly configured?: string;
  readonly annotated?: string;
  readonly proxy: string;
  readonly init: string;
}

const ROWS: readonly Row[] = [
  { why: "without a type the tag stays", proxy: "h/proxyv2:1.2-debug", init: "h/proxyv2:1.2-debug" },
  {
    why: "a type replaces the type of the tag",
    global: `${GLOBAL}, variant: distroless`,
    proxy: "h/proxyv2:1.2-distroless",
    init: "h/proxyv2:1.2-distroless",
  },
  { why: "default is no type", annotated: "default", proxy: "h/proxyv2:1.2", init: "h/proxyv2:1.2" },
  {
    why: "the proxy's configuration is over the variant, and not for init",
    global: `${GLOBAL}, variant: distroless`,
    configured: "other",
    proxy: "h/proxyv2:1.2-other",
    init: "h/proxyv2:1.2-distroless",
  },
  {
    why: "the annotation is over the proxy's configuration",
    configured: "other",
    annotated: "mine",
    proxy: "h/proxyv2:1.2-mine",
    init: "h/proxyv2:1.2-mine",
  },
  {
    why: "an empty annotation takes the type away",
    configured: "other",
    annotated: "",
    proxy: "h/proxyv2:1.2-debug",
    init: "h/proxyv2:1.2-debug",
  },
  { why: "a tag may be a number", global: "hub: h, tag: 1.10", proxy: "h/proxyv2:1.1", init: "h/proxyv2:1.1" },
  {
    why: "both images have names of their own",
    global: "hub: h, tag: t, proxy: {image: p}, proxy_init: {image: i}",
    proxy: "h/p:t",
    init: "h/i:t",
  },
  { why: "nothing is known", global: "", proxy: "/proxyv2:", init: "/proxyv2:" },
];

function proxyConfig(type: string | undefined): ValueMap {
  const config = parseValues(type === undefined ? "" : `image: {imageType: ${type}}`, "");
  return isMap(config) ? config : newMap();
}

for (const { why, global = GLOBAL, configured, annotated, proxy, init } of ROWS) {
  Deno.test(`proxyImage, proxyInitImage: ${why}`, () => {
    const settings = {
      values: parseValues(`global: {${global}}`, ""),
      proxyConfig: proxyConfig(configured),
      annotatedType: annotated,
    };
    assert.deepEqual([proxyImage(settings), proxyInitImage(settings)], [proxy, init]);
  });
}
