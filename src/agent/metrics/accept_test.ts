import assert from "node:assert/strict";
import { acceptFor, formatMediaType, formatOf, isOpenMetrics, parseMediaType, TEXT_FORMAT } from "./accept.ts";

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
    application: "application/openmetrics-text; escaping=allow-utf-8; q=0.4; version=1.0.0," +
      "application/openmetrics-text; q=0.3; version=0.0.1," +
      "text/plain; escaping=allow-utf-8; q=0.2; version=1.0.0,text/plain; q=0.1; version=0.0.4",
    envoy: "text/plain; escaping=allow-utf-8; q=0.2; version=1.0.0,text/plain; q=0.1; version=0.0.4",
  },
  {
    name: "Prometheus with protobuf",
    accept: `${PROTOBUF};q=0.6,${OPEN_1};q=0.5,${FALLBACK};q=0.2`,
    application:
      "application/openmetrics-text; escaping=allow-utf-8; q=0.2; version=1.0.0,text/plain; q=0.1; version=0.0.4",
    envoy: "text/plain; q=0.1; version=0.0.4",
  },
  { name: "protobuf alone", accept: PROTOBUF, application: FALLBACK, envoy: FALLBACK },
  {
    name: "OpenMetrics alone",
    accept: OPEN_1,
    application: "application/openmetrics-text; escaping=allow-utf-8; q=0.1; version=1.0.0",
    envoy: FALLBACK,
  },
  {
    name: "text alone",
    accept: `text/plain;version=1.0.0;q=0.2,${FALLBACK};q=0.1`,
    application: "text/plain; q=0.2; version=1.0.0,text/plain; q=0.1; version=0.0.4",
    envoy: "text/plain; q=0.2; version=1.0.0,text/plain; q=0.1; version=0.0.4",
  },
  {
    name: "anything",
    accept: "*/*",
    application: "text/plain; q=0.1; version=0.0.4",
    envoy: "text/plain; q=0.1; version=0.0.4",
  },
  {
    name: "a range",
    accept: "application/*",
    application: "application/openmetrics-text; q=0.1; version=0.0.1",
    envoy: FALLBACK,
  },
  { name: "what is no Accept", accept: "/", application: FALLBACK, envoy: FALLBACK },
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
  { type: "application/openmetrics-text; version", version: undefined },
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

const MEDIA_TYPES = [
  { text: " Text/Plain ; Version=0.0.4;charset=utf-8", formatted: "text/plain; charset=utf-8; version=0.0.4" },
  { text: 'a/b; c="d e\\"f"; ', formatted: 'a/b; c="d e\\"f"' },
  { text: "*", formatted: "*" },
  { text: "*/*", formatted: "*/*" },
  { text: "", formatted: undefined },
  { text: "/", formatted: undefined },
  { text: "a/b/c", formatted: undefined },
  { text: "a b", formatted: undefined },
  { text: "a/b; c", formatted: undefined },
  { text: "a/b; c=1; c=2", formatted: undefined },
];

for (const { text, formatted } of MEDIA_TYPES) {
  Deno.test(`parseMediaType(): ${JSON.stringify(text)}`, () => {
    const type = parseMediaType(text);
    assert.equal(type === undefined ? undefined : formatMediaType(type), formatted);
  });
}
