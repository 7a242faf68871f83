import { EXIT, UsageError } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import type { CheckOptions } from "../../check/mod.ts";
import { choiceValue, durationValue } from "../flag_values.ts";
import { readFlags, type Reading } from "../flags.ts";
import { CHECK, CHECK_FLAGS, checkHelp } from "./check_flags.ts";

/** `kubectl mesh check [CATEGORY...] [flags]`. */
export async function checkCommand(world: World, args: readonly string[]): Promise<number> {
  if (args[0] === "injection") return await (await import("./check_injection.ts")).checkInjection(world, args.slice(1));
  const flags = readFlags(CHECK_FLAGS, args, CHECK);
  if (flags.isOn("help")) {
    world.stdout.write(checkHelp());
    return EXIT.ok;
  }
  const [word] = flags.rest ?? [];
  if (word !== undefined) throw new UsageError(`Unexpected argument "${word}"`, { hint: `see "${CHECK} --help"` });
  const options = readOptions(flags);
  const { checkCluster, rbacText } = await import("../../check/mod.ts");
  if (!flags.isOn("rbac")) return await checkCluster(world, options);
  world.stdout.write(rbacText(options.scope));
  return EXIT.ok;
}

function readOptions(flags: Reading): CheckOptions {
  return {
    connection: {
      kubeconfig: flags.text("kubeconfig"),
      context: flags.text("context"),
      cluster: flags.text("cluster"),
      user: flags.text("user"),
    },
    choice: {
      categories: flags.words,
      only: words(flags, "only"),
      skip: words(flags, "skip"),
      pre: flags.isOn("pre"),
    },
    scope: {
      namespace: namespace(flags),
      istioNamespace: flags.text("istioNamespace") ?? "istio-system",
      revision: flags.text("revision"),
    },
    output: choiceValue("output", flags.text("output") ?? "table", ["table", "short", "json"]),
    failOn: choiceValue("fail-on", flags.text("fail-on") ?? "error", ["warning", "error"]),
    wait: durationValue("wait", flags.text("wait") ?? "0"),
  };
}

function words(flags: Reading, name: string): string[] {
  return flags.all(name).flatMap((value) => value.split(",")).filter((word) => word !== "");
}

function namespace(flags: Reading): string | undefined {
  const named = flags.text("namespace");
  if (!flags.isOn("all-namespaces") || named === undefined) return named;
  throw new UsageError("The flags --namespace and --all-namespaces exclude each other");
}
