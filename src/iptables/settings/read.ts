/** Reads the settings and reports all problems together. Flags win over variables, and variables over defaults. */
import {
  type Flag,
  flagEntries,
  type Given,
  type Line,
  parseFlags,
  readValue,
  retiredWarnings,
} from "../../golang/flags/mod.ts";
import type { Cidr } from "../../golang/net/mod.ts";
import type { LogOptions } from "../../platform/log.ts";
import { type FlagName, FLAGS } from "./flags.ts";
import { type CaptureSettings, OUTPUT_FORMATS } from "./settings.ts";
import * as values from "./values.ts";
import { type Names, Wrong } from "./values.ts";

export interface SettingsEnvironment {
  readonly users: Names;
  readonly groups: Names;
  /** Accepts unknown user names, because the rules are only printed, perhaps for another pod. */
  readonly isPrintOnly?: boolean;
  /** Refuses arguments that are not flags. Istio's programs ignore them. */
  readonly refusesArguments?: boolean;
  /** Without `-z`, sends inbound connections to the port of `-p`, as `istio-iptables.sh` did in Istio 1.0 to 1.2. */
  readonly isScript?: boolean;
}

export interface Problem {
  /** The flag or variable with the problem, such as `--istio-inbound-ports` or `-b`. */
  readonly origin: string;
  readonly reason: string;
}

/** The validated settings of a run: what to capture, and how to run. */
export interface Settings {
  readonly capture: CaptureSettings;
  readonly run: Readonly<ReturnType<Reader["run"]>>;
}

export interface Reading {
  readonly settings: Settings | undefined;
  readonly log: LogOptions;
  /** Names of the settings that a flag or variable sets. */
  readonly given: ReadonlySet<string>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** Reads the settings. Does not throw; `problems` lists the errors. */
export function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  environment: SettingsEnvironment,
): Reading {
  const line = readCommandLine(args);
  const sources = new Map(flagEntries(FLAGS).map(([name]) => [name, sourceOf(name, line.given.get(name), env)]));
  const reader = new Reader(sources, environment, line.isClean);
  reader.problems.push(...line.problems.map(({ message, hint }) => {
    return { origin: "", reason: hint === undefined ? message : `${message}: ${hint}` };
  }));
  const surplus = environment.refusesArguments === true ? [...line.words, ...line.rest ?? []] : [];
  reader.problems.push(...surplus.map((word) => ({ origin: "", reason: `Unexpected argument "${word}"` })));
  reader.warnings.push(...line.warnings, ...retiredWarnings(FLAGS, (name) => sources.get(name)?.origin || undefined));
  const settings: Settings = { capture: reader.capture(), run: reader.run() };
  reader.checkTogether(settings.capture);
  const { problems, warnings } = reader;
  const given = new Set([...sources].flatMap(([name, { origin }]) => origin === "" ? [] : [name]));
  return { settings: problems.length === 0 ? settings : undefined, log: reader.log(), given, problems, warnings };
}

function sourceOf(name: FlagName, given: Given | undefined, env: Readonly<Record<string, string>>): Given {
  if (given !== undefined) return given;
  const flag: Flag = FLAGS[name];
  const variable = flag.env?.find((key) => Object.hasOwn(env, key));
  if (variable === undefined) return { texts: [defaultOf(flag)], origin: "" };
  return { texts: [env[variable] ?? ""], origin: variable };
}

function defaultOf({ type, default: text }: Flag): string {
  return text ?? (type === "boolean" ? "false" : "");
}

const ANY_IPV4_LOOPBACK: Cidr = { address: { family: 4, value: 0x7f000001n, zone: "" }, bits: 32 };
const MAX_OWNER_GROUPS = 64;

class Reader {
  readonly problems: Problem[] = [];
  readonly warnings: string[] = [];

  constructor(
    private readonly sources: ReadonlyMap<FlagName, Given>,
    private readonly environment: SettingsEnvironment,
    private readonly isClean: boolean,
  ) {}

  capture(): CaptureSettings {
    const { users, groups } = this.environment;
    const uids = this.proxyUids();
    return {
      proxyPort: this.port("proxyPort"),
      inboundPort: this.port(this.isOnePort() ? "proxyPort" : "inboundPort"),
      tunnelPort: this.port("tunnelPort"),
      proxyUids: uids,
      proxyGids: this.text("proxyGids") === "" ? this.gidsLike(uids) : this.owners("proxyGids", "group", groups),
      mode: this.read("mode", (text) => choice(...MODES)(text || "REDIRECT"), "REDIRECT"),
      mark: this.read("mark", values.readMark, 1337),
      routeTable: this.read("routeTable", values.readRouteTable, 133),
      inboundPorts: this.read("inboundPorts", values.orAll(values.readPorts), "*"),
      inboundPortsExclude: this.read("inboundPortsExclude", values.readPorts, []),
      excludeInterfaces: this.read("excludeInterfaces", values.readInterfaces, []),
      outboundCidrs: this.read("outboundCidrs", values.orAll(values.readCidrs), "*"),
      outboundCidrsExclude: this.read("outboundCidrsExclude", values.readCidrs, []),
      outboundPorts: this.read("outboundPorts", values.readPorts, []),
      outboundPortsExclude: this.read("outboundPortsExclude", values.readPorts, []),
      virtualInterfaces: this.read("virtualInterfaces", values.readInterfaces, []),
      ownerGroups: this.text("ownerGroups") === "*" ? "*" : this.owners("ownerGroups", "group", groups),
      ownerGroupsExclude: this.owners("ownerGroupsExclude", "group", groups),
      loopbackCidr: this.read("loopbackCidr", values.readLoopback, ANY_IPV4_LOOPBACK),
      redirectDns: this.bool("redirectDns"),
      captureAllDns: this.bool("captureAllDns"),
      dropInvalid: this.bool("dropInvalid"),
      dualStack: this.bool("dualStack"),
      excludeUids: this.owners("excludeUids", "user", users),
      excludePortsForUids: this.portsForUids(),
    };
  }

  run() {
    return {
      ...this.backend(),
      via: this.read("via", choice("netlink", "programs"), "netlink"),
      dryRun: this.bool("dryRun"),
      dryRunFile: this.text("dryRunFile"),
      restoreFormat: this.bool("restoreFormat"),
      skipRuleApply: this.bool("skipRuleApply"),
      cleanupOnly: this.isClean || this.bool("cleanupOnly"),
      runValidation: this.bool("runValidation"),
      probePort: this.number("probePort"),
      probeTimeoutMilliseconds: this.number("probeTimeout"),
      networkNamespace: this.text("networkNamespace"),
      waitMilliseconds: this.number("wait"),
      comments: this.bool("comments"),
      output: this.read("output", choice("", ...OUTPUT_FORMATS), ""),
      cniMode: this.bool("cniMode"),
      reconcile: this.bool("reconcile"),
      forceApply: this.bool("forceApply"),
      require: this.read("require", choice("", "both", "inbound", "outbound"), ""),
    };
  }

  /**
   * Reads the log options. This program's flags win over the flags that Istio's injector adds. Of Istio's scopes, as in
   * `default:info,iptables:debug`, uses `iptables`, or `default` if absent.
   */
  log(): LogOptions {
    const scopes = this.text("istioLogLevel").split(",").map((item) => {
      const [scope = "", level] = item.split(":");
      return level === undefined ? ["default", scope] as const : [scope, level] as const;
    });
    const levels = new Map(scopes);
    const level = ISTIO_LEVELS.get(levels.get("iptables") ?? levels.get("default") ?? "");
    const format = this.bool("istioLogJson") ? "json" : undefined;
    return { format: this.text("logFormat") || format, level: this.text("logLevel") || level };
  }

  /** Reports settings that are valid alone but not together. */
  checkTogether({ proxyPort, inboundPort, ownerGroups, mode }: CaptureSettings): void {
    if (ownerGroups !== "*" && ownerGroups.length > MAX_OWNER_GROUPS) {
      this.wrong("ownerGroups", `${ownerGroups.length} groups are too many: use at most ${MAX_OWNER_GROUPS}`);
    }
    if (proxyPort === inboundPort && mode === "TPROXY" && !this.isOnePort()) {
      this.wrong("inboundPort", `with TPROXY, the inbound port must differ from the outbound port ${proxyPort}`);
    }
  }

  /** Reads the back end. `--backend` wins over Istio's flags and variables for the same setting. */
  private backend() {
    const nativeNftables = this.bool("nativeNftables");
    const forceBinary = this.read("forceBinary", choice("", "legacy", "nft"), "");
    const backend = this.read("backend", choice(...BACKENDS), "auto");
    if (backend === "auto") return { nativeNftables, forceBinary };
    const variant: typeof forceBinary = backend === "nft" ? "" : backend === "iptables-nft" ? "nft" : "legacy";
    return { nativeNftables: backend === "nft", forceBinary: variant };
  }

  private isOnePort(): boolean {
    return this.environment.isScript === true && this.source("inboundPort").origin === "";
  }

  /** Returns the proxy's UIDs; by default, the UID of the user named in ENVOY_USER. */
  private proxyUids(): readonly string[] {
    const { users } = this.environment;
    if (this.text("proxyUids") !== "") return this.owners("proxyUids", "user", users);
    return [String(users.get(this.text("envoyUser")) ?? 1337)];
  }

  /** Returns the users as group IDs, assuming that each user has a group with the same number. */
  private gidsLike(uids: readonly string[]): string[] {
    const { users, groups } = this.environment;
    return uids.map((uid) => /^\d/.test(uid) || groups.has(uid) ? uid : String(users.get(uid) ?? uid));
  }

  private owners(name: FlagName, kind: string, names: Names): readonly string[] {
    const isHere = this.environment.isPrintOnly !== true && !this.bool("dryRun");
    return this.read(name, (text) => values.readOwners(text, kind, isHere ? names : undefined), []);
  }

  private portsForUids() {
    const texts = this.source("excludePortsForUids").texts.flatMap((text) => text.split(";")).filter(Boolean);
    const read = values.collect(texts, (text) => values.readPortsForUids(text, this.environment.users));
    return this.accept("excludePortsForUids", read, []);
  }

  private port(name: FlagName): number {
    return this.read(name, values.readPort, 1);
  }

  bool(name: FlagName): boolean {
    return this.valueOf(name) === true;
  }

  private number(name: FlagName): number {
    return Math.trunc(Number(this.valueOf(name)));
  }

  /**
   * Returns the value of a setting. For an invalid text, returns the default, as Istio does. Such a text comes from the
   * environment, because the command line has been checked before.
   */
  private valueOf(name: FlagName): string | number | boolean | undefined {
    const flag = FLAGS[name];
    const text = this.text(name);
    const { value, reason } = readValue(flag, text);
    if (reason === undefined) return value;
    this.warnings.push(`"${this.source(name).origin}" is ignored, because its value "${text}" is invalid: ${reason}`);
    return readValue(flag, defaultOf(flag)).value;
  }

  private read<T>(name: FlagName, read: (text: string) => T | Wrong, fallback: T): T {
    return this.accept(name, read(this.text(name)), fallback);
  }

  private accept<T>(name: FlagName, value: T | Wrong, fallback: T): T {
    if (!(value instanceof Wrong)) return value;
    value.reasons.forEach((reason) => this.wrong(name, reason));
    return fallback;
  }

  private wrong(name: FlagName, reason: string): void {
    const { origin } = this.source(name);
    this.problems.push({ origin: origin === "" ? `--${FLAGS[name].name}` : origin, reason });
  }

  private text(name: FlagName): string {
    return this.source(name).texts.join(",");
  }

  private source(name: FlagName): Given {
    return this.sources.get(name) ?? { texts: [defaultOf(FLAGS[name])], origin: "" };
  }
}

const MODES = ["REDIRECT", "TPROXY"] as const;
const BACKENDS = ["auto", "nft", "iptables-nft", "iptables-legacy"] as const;

/** Returns a parser that accepts only these values. */
function choice<const T extends string>(...words: readonly T[]): (text: string) => T | Wrong {
  return (text) =>
    words.find((word) => word === text) ?? new Wrong([`"${text}" is not one of ${words.filter(Boolean).join(", ")}`]);
}

/** Levels of this program by Istio level. As in Istio, an unknown level means the default. */
const ISTIO_LEVELS: ReadonlyMap<string, string> = new Map([
  ["debug", "debug"],
  ["info", "info"],
  ["warn", "warning"],
  ["error", "error"],
  ["fatal", "fatal"],
  ["none", "fatal"],
]);

interface CommandLine extends Line<FlagName> {
  readonly isClean: boolean;
  readonly warnings: readonly string[];
}

/** Reads a command line. Does not throw; `problems` lists the errors. */
function readCommandLine(args: readonly string[]): CommandLine {
  const isUnitTestMode = (arg: string, at: number) => arg === "-t" && !isValue(args[at + 1]);
  const line = parseFlags(FLAGS, args.map((arg, at) => isUnitTestMode(arg, at) ? "--dry-run" : arg));
  const warning = '"-t" without a mark selects the unit-test mode of Istio 1.2 and 1.3: the rules are only printed';
  return { ...line, isClean: line.words[0] === "clean", warnings: args.some(isUnitTestMode) ? [warning] : [] };
}

/**
 * Whether the next argument is the value of `-t`. Before Istio 1.4, `-t` had no value: it was the last argument, or
 * came before another flag.
 */
function isValue(next: string | undefined): boolean {
  return next !== undefined && !next.startsWith("-") && next !== "clean";
}
