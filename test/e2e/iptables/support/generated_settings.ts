/** Settings of the traffic capture as a fast-check arbitrary: the flags of a run. */
import fc from "fast-check";

const port = fc.integer({ min: 1, max: 65535 });
const ports = list(fc.oneof(
  { weight: 3, arbitrary: port.map(String) },
  fc.tuple(port, port).map(([a, b]) => `${Math.min(a, b)}:${Math.max(a, b)}`),
));
const interfaces = list(fc.constantFrom("eth7", "eth+", "tap0", "a.b_c-d@e", "net0123456789ab"));
/** Numbers, a range, a name. */
const owners = list(fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 4294967294 }).map(String) },
  fc.constantFrom("1000-2000", "0-4294967294", "daemon", "bin"),
));
const ipv4 = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([address, bits]) => `${address}/${bits}`);
const ipv6 = fc.tuple(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), fc.integer({ min: 0, max: 128 }))
  .map(([value, bits]) => {
    const hex = value.toString(16).padStart(32, "0").match(/.{4}/g) ?? [];
    return `${hex.join(":")}/${bits}`;
  });
const cidrs = list(fc.oneof(ipv4, ipv6, fc.constantFrom("127.0.0.0/8", "::1/128", "10.0.0.0/8", "0.0.0.0/0")));
const loopback = fc.integer({ min: 8, max: 32 }).map((bits) => `127.1.2.3/${bits}`);
const forUids = fc.tuple(
  fc.constantFrom("tcp", "udp"),
  fc.oneof(fc.constant("*"), ports.map((text) => text.replaceAll(":", "-"))),
  owners,
)
  .map((parts) => parts.join(":"));

function list(item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join());
}

function optional(flag: string, value: fc.Arbitrary<string>): fc.Arbitrary<string[]> {
  return fc.option(value, { nil: undefined }).map((text) => text === undefined ? [] : [flag, text]);
}

function present(flag: string): fc.Arbitrary<string[]> {
  return fc.boolean().map((isPresent) => isPresent ? [flag] : []);
}

/** A run's flags and variables. */
export interface GeneratedRun {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Flags that change rules, with values that the program accepts. */
export const generatedRun: fc.Arbitrary<GeneratedRun> = fc.record({
  flags: fc.tuple(
    fc.constantFrom(["-m", "REDIRECT"], ["-m", "TPROXY"]),
    optional("-u", owners),
    optional("-g", owners),
    optional("-b", fc.oneof(fc.constant("*"), ports)),
    optional("-d", ports),
    optional("-i", fc.oneof(fc.constant("*"), cidrs)),
    optional("-x", cidrs),
    optional("-q", ports),
    optional("-o", ports),
    optional("-c", interfaces),
    optional("-k", interfaces),
    optional("-e", port.map(String)),
    optional("-t", fc.integer({ min: 2000, max: 0xffffffff }).map(String)),
    optional("--exclude-uid", owners),
    optional("--exclude-outbound-ports-for-uids", forUids),
    fc.constantFrom([], ["--redirect-dns"], ["--redirect-dns", "--capture-all-dns"]),
    present("--drop-invalid"),
    present("--dual-stack"),
    present("--comments"),
  ).map((parts) => parts.flat()),
  env: fc.record({
    ISTIO_OUTBOUND_OWNER_GROUPS: list(fc.constantFrom("*", "bin", "7", "100-200")).map((text) =>
      text.includes("*") ? "*" : text
    ),
    ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE: owners,
    ISTIO_OUTBOUND_IPV4_LOOPBACK_CIDR: fc.oneof(fc.constant("127.0.0.1/32"), loopback),
  }, { requiredKeys: [] }),
});
