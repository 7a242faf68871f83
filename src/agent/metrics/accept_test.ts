import assert from "node:assert/strict";
import { acceptFor, formatOf, isOpenMetrics, TEXT_FORMAT } from "./accept.ts";

const OPEN_1 = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8";
const OPEN_0 = "application/openmetrics-text;version=0.0.1";
const PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
const FALLBACK = "text/plain;version=0.0.4";

/** What clients send (Istio's TestExcludeProtobufEncoding), what the application is asked, and what Envoy is. */
const CASES = [
  {
    name: "Prometheus without protobuf",
    accept:
      `${OPEN_1};q=0.5,${OPEN_0};q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,${FALLBACK};q=0.2,*/*;q=0.1`,
    application:
      `${OPEN_1};q=0.4,${OPEN_0};q=0.3,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.2,${FALLBACK};q=0.1`,
    envoy: `text/plain;version=1.0.0;escaping=allow-utf-8;q=0.2,${FALLBACK};q=0.1`,
  },
  {
    name: "Prometheus with protobuf",
    accept: `${PROTOBUF};q=0.6,${OPEN_1};q=0.5,${FALLBACK};q=0.2`,
    application: `${OPEN_1};q=0.2,${FALLBACK};q=0.1`,
    envoy: `${FALLBACK};q=0.1`,
  },
  { name: "protobuf alone", accept: PROTOBUF, application: FALLBACK, envoy: FALLBACK },
  {
    name: "OpenMetrics alone",
    accept: OPEN_1,
    application: `${OPEN_1};q=0.1`,
    envoy: FALLBACK,
  },
  {
    name: "text alone",
    accept: `text/plain;version=1.0.0;q=0.2,${FALLBACK};q=0.1`,
    application: `text/plain;version=1.0.0;q=0.2,${FALLBACK};q=0.1`,
    envoy: `text/plain;version=1.0.0;q=0.2,${FALLBACK};q=0.1`,
  },
  {
    name: "anything",
    accept: "*/*",
    application: `${FALLBACK};q=0.1`,
    envoy: `${FALLBACK};q=0.1`,
  },
  {
    name: "a range",
    accept: "application/*",
    application: `${OPEN_0};q=0.1`,
    envoy: FALLBACK,
  },
  { name: "what is no Accept", accept: "/", application: FALLBACK, envoy: FALLBACK },
  { name: "names of Object.prototype", accept: "constructor,__proto__", application: FALLBACK, envoy: FALLBACK },
  { name: "nothing", accept: "", application: FALLBACK, envoy: FALLBACK },
];

for (const { name, accept, application, envoy } of CASES) {
  Deno.test(`acceptFor(): ${name}`, () => {
    assert.equal(acceptFor("application", accept), application);
    assert.equal(acceptFor("envoy", accept), envoy);
  });
}

Deno.test("acceptFor(): more than nine types keep their order", () => {
  const accept = Array.from({ length: 11 }, (_, index) => `text/plain;version=${index}`).join(",");
  const qualities = [...acceptFor("envoy", accept).matchAll(/q=([\d.]+)/g)].map(([, quality]) => Number(quality));
  assert.deepEqual(qualities, [...qualities].sort((a, b) => b - a));
  assert.equal(new Set(qualities).size, 11);
});

const FORMATS = [
  { type: "application/openmetrics-text; version=0.0.1", version: "0.0.1" },
  { type: "application/openmetrics-text; version=1.0.0; charset=utf-8", version: "1.0.0" },
  { type: 'Application/OpenMetrics-Text; Version="1.0.0"', version: "1.0.0" },
  { type: "application/openmetrics-text", version: "0.0.1" },
  { type: "application/openmetrics-text; version=2.0.0", version: undefined },
  { type: "text/plain; version=0.0.4; charset=utf-8", version: undefined },
  { type: "application/openmetrics-text; version", version: "0.0.1" },
  { type: "", version: undefined },
];

for (const { type, version } of FORMATS) {
  Deno.test(`formatOf(): ${type}`, () => {
    const format = version === undefined
      ? TEXT_FORMAT
      : `application/openmetrics-text; version=${version}; charset=utf-8`;
    assert.equal(formatOf(type), format);
    assert.equal(isOpenMetrics(formatOf(type)), version !== undefined);
  });
}
