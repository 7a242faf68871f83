import assert from "node:assert/strict";
import { parseNames } from "./values.ts";
import { readSettings } from "./read.ts";

const NAMES = {
  users: parseNames("root:x:0:0\nistio-proxy:x:1400:1400\napp:x:1000:1000\n"),
  groups: parseNames("java:x:201:\n"),
};

function read(line: string, env: Record<string, string> = {}) {
  return readSettings(
    line.split(" ").filter((word) => word !== "").map((word) => word === "''" ? "" : word),
    env,
    NAMES,
  );
}

function capture(line: string, env: Record<string, string> = {}) {
  const { settings, problems } = read(line, env);
  assert.deepEqual(problems, []);
  assert.ok(settings);
  return settings.capture;
}

Deno.test("readSettings: pflag's spellings of a value", () => {
  for (const line of ["-p 16001", "-p16001", "-p=16001", "--envoy-port 16001", "--envoy-port=16001", "-np16001"]) {
    assert.equal(capture(line).proxyPort, 16001, line);
  }
});

Deno.test("readSettings: a boolean flag accepts a value only after =", () => {
  assert.equal(read("--dry-run=false").settings?.run.dryRun, false);
  assert.equal(read("--dry-run false").settings?.run.dryRun, true);
  assert.equal(read("-dryRun").settings?.run.dryRun, true);
  assert.equal(read("-n").settings?.run.dryRun, true);
});

Deno.test("readSettings: command line before environment before default", () => {
  assert.equal(capture("").inboundPort, 15006);
  assert.equal(capture("", { INBOUND_CAPTURE_PORT: "16006" }).inboundPort, 16006);
  assert.equal(capture("-z 17006", { INBOUND_CAPTURE_PORT: "16006" }).inboundPort, 17006);
  assert.equal(capture("", { ENVOY_PORT: "16001" }).proxyPort, 16001);
});

Deno.test("readSettings: an alias of a variable wins over the variable", () => {
  assert.equal(capture("", { REDIRECT_DNS: "false", ISTIO_META_DNS_CAPTURE: "true" }).redirectDns, true);
  assert.equal(capture("", { DROP_INVALID: "true", INVALID_DROP: "0" }).dropInvalid, false);
});

Deno.test("readSettings: an invalid boolean in the environment is ignored with a warning", () => {
  const { settings, warnings } = read("", { DUAL_STACK: "yes" });
  assert.equal(settings?.capture.dualStack, false);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /DUAL_STACK/);
});

Deno.test("readSettings: lists of the 1.0 injector have spaces and a comma at the end", () => {
  const { settings } = readSettings(["-b", "8080, 9090, "], {}, NAMES);
  assert.deepEqual(settings?.capture.inboundPorts, [{ first: 8080, last: 8080 }, { first: 9090, last: 9090 }]);
});

Deno.test("readSettings: ranges of ports, with - and with :", () => {
  assert.deepEqual(capture("-o 8000-8100,9000:9001").outboundPortsExclude, [
    { first: 8000, last: 8100 },
    { first: 9000, last: 9001 },
  ]);
});

Deno.test("readSettings: the proxy's user is looked up by $ENVOY_USER, else 1337; its group is the user's", () => {
  assert.deepEqual([capture("").proxyUids, capture("").proxyGids], [["1400"], ["1400"]]);
  assert.deepEqual(capture("", { ENVOY_USER: "nobody-here" }).proxyUids, ["1337"]);
  assert.deepEqual(capture("-u 3,4").proxyGids, ["3", "4"]);
});

Deno.test("readSettings: -t is a mark, or the unit-test mode of 1.2 and 1.3", () => {
  assert.equal(capture("-t 1400 -b 80").mark, 1400);
  assert.equal(capture("-t 0x539").mark, 1337);
  for (const line of ["-t", "-t -p 15001", "-p 15001 -t"]) assert.equal(read(line).settings?.run.dryRun, true, line);
});

Deno.test("readSettings: clean as first word", () => {
  assert.equal(read("clean").settings?.run.cleanupOnly, true);
  assert.equal(read("other clean").settings?.run.cleanupOnly, false);
});

Deno.test("readSettings: exceptions for users", () => {
  assert.deepEqual(
    capture("--exclude-outbound-ports-for-uids tcp:5432,6000-6010:1000,app --exclude-uid 7 --exclude-uid 8,9"),
    {
      ...capture(""),
      excludeUids: ["7", "8", "9"],
      excludePortsForUids: [{
        protocol: "tcp",
        ports: [{ first: 5432, last: 5432 }, { first: 6000, last: 6010 }],
        uids: ["1000", "app"],
      }],
    },
  );
});

Deno.test("readSettings: all problems at once, each with its flag or variable", () => {
  const { settings, problems } = read("-p abc -z 0 -c way-too-long-interface -i foo -m tproxy -r 254 -u nobody-here", {
    ISTIO_OUTBOUND_OWNER_GROUPS: "java,golang",
    ISTIO_LOCAL_EXCLUDE_PORTS: "1,70000",
  });
  assert.equal(settings, undefined);
  assert.deepEqual(problems.map(({ origin }) => origin).sort(), [
    "-c",
    "-i",
    "-m",
    "-p",
    "-r",
    "-u",
    "-z",
    "ISTIO_LOCAL_EXCLUDE_PORTS",
    "ISTIO_OUTBOUND_OWNER_GROUPS",
  ]);
});

Deno.test("readSettings: the command line itself is wrong", () => {
  for (const line of ["--nope", "-Y", "--dry-run=maybe", "--iptables-probe-port 99999", "--probe-timeout 5", "-p"]) {
    assert.notEqual(read(line).problems.length, 0, line);
  }
});

Deno.test("readSettings: removed flags are accepted with a warning", () => {
  const { problems, warnings } = read(
    "--output-paths=/a --iptables-trace-logging --host-nsenter-exec --iptables-version 1.8.9 -f",
  );
  assert.deepEqual(problems, []);
  assert.equal(warnings.length, 4);
});

Deno.test("readSettings: at most 64 groups", () => {
  const groups = (count: number) => Array.from({ length: count }, (_, at) => 1 + at).join(",");
  assert.equal(read("", { ISTIO_OUTBOUND_OWNER_GROUPS: groups(64) }).problems.length, 0);
  assert.match(read("", { ISTIO_OUTBOUND_OWNER_GROUPS: groups(65) }).problems[0]?.reason ?? "", /65 groups/);
});

Deno.test("readSettings: istio-iptables.sh without -z captures inbound connections to the port of -p", () => {
  const ports = (line: string, env: Record<string, string> = {}) => {
    const { settings, problems } = readSettings(line.split(" "), env, { ...NAMES, isScript: true });
    assert.deepEqual(problems, []);
    return [settings?.capture.proxyPort, settings?.capture.inboundPort];
  };
  assert.deepEqual(ports("-p 15001"), [15001, 15001]);
  assert.deepEqual(ports("-p 4000 -m TPROXY"), [4000, 4000]);
  assert.deepEqual(ports("-p 15001", { ENVOY_PORT: "4000" }), [15001, 15001]);
  assert.deepEqual(ports("-u 1337"), [15001, 15001]);
  assert.deepEqual(ports("-p 15001 -z 15006"), [15001, 15006]);
  assert.deepEqual(ports("-p 15001", { INBOUND_CAPTURE_PORT: "15006" }), [15001, 15006]);
});

const LOGS: readonly (readonly [string, { format?: string; level?: string }])[] = [
  ["", {}],
  ["--log_output_level debug", { level: "debug" }],
  ["--log_output_level default:warn,ads:debug", { level: "warning" }],
  ["--log_output_level iptables:debug,default:info", { level: "debug" }],
  ["--log_output_level default:loud", {}],
  ["--log_output_level constructor", {}],
  ["--log_output_level none", { level: "fatal" }],
  ["--log_as_json", { format: "json" }],
  ["--log_as_json --log-format text --log_output_level debug --log-level error", { format: "text", level: "error" }],
];

for (const [line, expected] of LOGS) {
  Deno.test(`readSettings: the log options of "${line}"`, () => {
    assert.deepEqual(read(line).log, { format: undefined, level: undefined, ...expected });
  });
}
