/**
 * Fuzzes small texts that the agent reads: the downward API, probers, scrape targets, resolv.conf, headers, Envoy's
 * statistics.
 */
import { acceptFor, formatOf } from "../../../src/agent/metrics/accept.ts";
import { timeoutOf } from "../../../src/agent/metrics/scrape.ts";
import { readScrapeTargets } from "../../../src/agent/metrics/scrape_targets.ts";
import { readResolvConf } from "../../../src/agent/dns/upstream/resolv_conf.ts";
import { parseDownwardApi } from "../../../src/agent/settings/pod/downward_api.ts";
import { preferredEncoding } from "../../../src/agent/status/compress.ts";
import { targetOf } from "../../../src/agent/http.ts";
import { readProbers } from "../../../src/agent/status/probes/config.ts";
import { parseAddress, parseCidr } from "../../../src/golang/net/mod.ts";
import { type FuzzReader, textOf } from "../reader.ts";
import { JSON_WORDS, YAML_WORDS } from "./words.ts";

/** The readers, with a seed for each. The first byte of an input selects a reader. */
const READS: readonly (readonly [seed: string, read: (text: string) => unknown])[] = [
  ['app="a"\nb="\\u0041\\x41\\101\\n"\nc=`raw`\n', parseDownwardApi],
  [
    '{"/app-health/a/livez":{"httpGet":{"port":80,"path":"/x","scheme":"HTTPS"},"timeoutSeconds":1},"/app-health/b/readyz":{"grpc":{"port":1,"service":"s"}}}',
    readProbers,
  ],
  ['{"scrape":"true","path":"/metrics","port":"80,81:/x"}', (text) => readScrapeTargets(text, 15020)],
  ["# c\nsearch a.b c\nnameserver 10.0.0.1\nnameserver ::1%eth0\noptions ndots:5\n", (text) => readResolvConf(text)],
  ['application/openmetrics-text; version=1.0.0; charset="utf-8"', formatOf],
  [
    "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3,*/*;q=0.1",
    (text) => [acceptFor("envoy", text), acceptFor("application", text)],
  ],
  ["gzip;q=0.5, zstd, *;q=0", preferredEncoding],
  ["http://a:1/b?c=d#e", targetOf],
  ["10.5", (text) => timeoutOf(new Headers([["x-prometheus-scrape-timeout-seconds", text.replaceAll(/[^ -~]/g, "")]]))],
  ["2001:db8::1%eth0", parseAddress],
  ["10.0.0.0/8", parseCidr],
];

export const AGENT_TEXTS: FuzzReader = {
  name: "agent-texts",
  seeds: READS.map(([seed], index) => `${String.fromCharCode(index)}${seed}`),
  words: [
    ...JSON_WORDS,
    ...YAML_WORDS,
    "=",
    ";",
    "q=",
    "/",
    "::",
    "%",
    "/129",
    "nameserver ",
    "search ",
    "\\x4",
    "\\U00110000",
  ],
  open: () => (input) => {
    const [, read] = READS[(input[0] ?? 0) % READS.length] ?? [];
    read?.(textOf(input.subarray(1)));
    return true;
  },
};
