/** Runs of the room: generate, apply, clean; settings in, an exit code out. */
import { EXIT, MeshError, UsageError } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";
import { converge } from "./apply/apply.ts";
import { podNetwork } from "./detect/pod_network.ts";
import { nameservers } from "./detect/resolv_conf.ts";
import type { OwnerNames } from "./kernel/rule_words.ts";
import { makePlan } from "./plan/plan.ts";
import type { Plan } from "./plan/rule.ts";
import { parseNames } from "./settings/names.ts";
import { type Reading, readSettings } from "./settings/read.ts";
import type { OutputFormat, Settings } from "./settings/settings.ts";
import { viewText } from "./views/mod.ts";

/** `istio-iptables ARGS`. */
export async function istioIptables(
  world: World,
  args: readonly string[],
  mode: Mode = "apply",
): Promise<number> {
  const names: OwnerNames = { users: await namesIn(world, "/etc/passwd"), groups: await namesIn(world, "/etc/group") };
  const reading = readSettings(args, world.env.all(), names);
  const log = (line: string) => world.stderr.write(`${line}\n`);
  reading.warnings.forEach((warning) => log(`warning: ${warning}`));
  const settings = reading.settings ?? refuse(reading);
  const isClean = mode === "clean" || settings.run.cleanupOnly;
  const plan = isClean ? undefined : await planOf(world, settings);
  if (settings.run.dryRun || mode === "generate") return print(world, settings, plan);
  if (settings.run.skipRuleApply) return EXIT.ok;
  const outcome = await converge(world, world.system, plan, {
    native: settings.run.nativeNftables,
    forced: settings.run.forceBinary,
    comments: settings.run.comments,
    names,
    waitMilliseconds: settings.run.waitMilliseconds,
    log,
  });
  log(outcome.changed ? outcome.differences.join("\n") : "nothing to change: the rules are in place");
  return EXIT.ok;
}

function refuse({ problems }: Reading): never {
  const text = problems.map(({ origin, reason }) => origin === "" ? reason : `${origin}: ${reason}`).join("; ");
  throw problems.some(({ isUsage }) => isUsage) ? new UsageError(text) : new MeshError(text);
}

async function namesIn(world: World, path: string) {
  return parseNames(await world.files.readText(path).catch(() => ""));
}

async function planOf(world: World, settings: Settings): Promise<Plan> {
  const { capture } = settings;
  const network = podNetwork(world.network.interfaces().map(({ address }) => address), capture.dualStack);
  if (network.hostAddress === undefined) {
    throw new MeshError("This network namespace has no address but of the loopback or a link");
  }
  const needsServers = capture.redirectDns && !capture.captureAllDns;
  const servers = needsServers ? nameservers(await world.files.readText("/etc/resolv.conf")).servers : [];
  return makePlan(capture, { hasIpv6: network.hasIpv6, dnsServers: servers });
}

/** `-f=false` of Istio 1.5 to 1.23 asks for commands. */
function formatOf({ output, nativeNftables, restoreFormat }: Settings["run"]): OutputFormat {
  if (output !== undefined) return output;
  if (!restoreFormat) return "commands";
  return nativeNftables ? "nft" : "restore";
}

function print(world: World, { run }: Settings, plan: Plan | undefined): number {
  if (plan === undefined) return EXIT.ok;
  const text = viewText(plan, formatOf(run), run);
  world.stdout.write(text);
  if (run.dryRunFile !== "") world.files.writeText(run.dryRunFile, text);
  return EXIT.ok;
}

type Mode = "apply" | "clean" | "generate";

const SUBCOMMANDS: readonly string[] = ["generate", "apply", "clean"] satisfies Mode[];

/** `kubectl mesh iptables SUBCOMMAND ARGS`. */
export function runIptables(world: World, subcommand: string, args: readonly string[]): Promise<number> {
  const isMode = (word: string): word is Mode => SUBCOMMANDS.includes(word);
  if (isMode(subcommand)) return istioIptables(world, args, subcommand);
  return Promise.reject(new UsageError(`Unknown command "iptables ${subcommand}": use ${SUBCOMMANDS.join(", ")}`));
}

/** `pilot-agent istio-iptables ARGS` and `pilot-agent istio-clean-iptables ARGS`. */
export function runIstioIptables(world: World, name: string, args: readonly string[]): Promise<number> {
  return istioIptables(world, args, name === "istio-clean-iptables" ? "clean" : "apply");
}
