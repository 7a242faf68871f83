import { commandGroup, type Exits, rawCommand } from "../command.ts";
import { reportFailure } from "../failure.ts";

type Mode = "generate" | "apply" | "clean" | "verify";

const load = () => import("../../iptables/mod.ts");

/** Returns the parts that all modes share: flags and argument parsing. */
function modeOf(mode: Mode, isDropIn = false, isScript = false) {
  return {
    flags: async () => (await load()).CAPTURE_FLAGS,
    run: async (world, args) => (await load()).runIptables(world, { mode, isDropIn, isScript }, args),
  } satisfies Partial<Parameters<typeof rawCommand>[0]>;
}

const EXITS: Exits = { ok: true, failed: true, usage: true };
const CAPTURE_EXITS: Exits = { ...EXITS, notCaptured: true };

const GENERATE = rawCommand({
  ...modeOf("generate"),
  summary: "Print the rules that capture a pod's traffic",
  description: "Prints input for iptables-restore or nft. Changes nothing, and needs no privileges.",
  examples: [
    { command: "kubectl mesh iptables generate -b '*' -i '*'" },
    { command: "kubectl mesh iptables generate -b '*' -i '*' --output table" },
  ],
  exits: EXITS,
});

const APPLY = {
  summary: "Apply the rules in this network namespace",
  description:
    "Applies all rules or none. Applying the same settings again changes nothing. Changed settings replace the owned " +
    "rules, and no others.",
  examples: [{ command: "kubectl mesh iptables apply -b '*' -i '*' -d 15090,15021,15020" }],
  exits: CAPTURE_EXITS,
};

const CLEAN = {
  summary: "Remove all owned rules from the kernel",
  description: "Removes the rules of all settings and all releases of Istio. Needs no flags.",
  examples: [{ command: "kubectl mesh iptables clean" }],
  exits: EXITS,
};

const VERIFY = rawCommand({
  ...modeOf("verify"),
  summary: "Prove that the traffic of this pod is captured",
  description:
    "Open inbound and outbound connections, also by DNS if it is captured, and check that they reach the proxy's " +
    "ports. No packet leaves the pod. Without -b, -i and -q, the settings come from the rules in the kernel.",
  examples: [
    { command: "kubectl mesh iptables verify" },
    { command: "kubectl mesh iptables verify -b '*' -i '*' --require both" },
  ],
  exits: CAPTURE_EXITS,
});

export const IPTABLES = commandGroup({
  summary: "Capture the traffic of a pod",
  commands: {
    generate: () => Promise.resolve(GENERATE),
    apply: () => Promise.resolve(rawCommand({ ...modeOf("apply"), ...APPLY })),
    clean: () => Promise.resolve(rawCommand({ ...modeOf("clean"), ...CLEAN })),
    verify: () => Promise.resolve(VERIFY),
    trace: async () => (await import("./trace.ts")).TRACE,
    cni: async () => (await import("./cni/cni.ts")).CNI,
  },
});

/**
 * Returns the command for one of Istio's programs. The command reports errors as `kubectl mesh iptables` does, even
 * under `pilot-agent`.
 */
function dropIn(program: string, mode: "apply" | "clean", isScript = false) {
  const record = mode === "apply" ? APPLY : CLEAN;
  return rawCommand({ ...modeOf(mode, true, isScript), ...record, program, failure: reportFailure });
}

export const ISTIO_IPTABLES = dropIn("istio-iptables", "apply");
export const ISTIO_IPTABLES_SH = dropIn("istio-iptables.sh", "apply", true);
export const ISTIO_CLEAN_IPTABLES = dropIn("istio-clean-iptables", "clean");
