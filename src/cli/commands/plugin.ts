import { type Command, commandGroup } from "../command.ts";

const CONFIG = commandGroup({
  summary: "Save and compare injection configurations",
  commands: {
    snapshot: async () => (await import("./config/snapshot.ts")).CONFIG_SNAPSHOT,
    diff: async () => (await import("./config/diff.ts")).CONFIG_DIFF,
  },
});

const WEBHOOK = commandGroup({
  summary: "Inject pods when they are created",
  commands: {
    serve: async () => (await import("./webhook/serve.ts")).WEBHOOK_SERVE,
    manifests: async () => (await import("./webhook/manifests.ts")).WEBHOOK_MANIFESTS,
  },
});

/** `kubectl mesh` with all commands, and hidden commands for the programs that it replaces. */
export const PLUGIN: Command = commandGroup({
  program: "kubectl mesh",
  summary: "Put workloads into an Istio mesh, and run the mesh's side of a pod",
  showsHelp: true,
  commands: {
    inject: async () => (await import("./inject/inject.ts")).INJECT,
    uninject: async () => (await import("./inject/uninject.ts")).UNINJECT,
    config: () => Promise.resolve(CONFIG),
    kustomize: async () => (await import("./inject/kustomize.ts")).KUSTOMIZE,
    check: async () => (await import("./check/check.ts")).CHECK,
    explain: async () => (await import("./explain.ts")).EXPLAIN,
    snapshot: async () => (await import("./snapshot.ts")).SNAPSHOT,
    webhook: () => Promise.resolve(WEBHOOK),
    iptables: async () => (await import("./iptables.ts")).IPTABLES,
    agent: async () => (await import("./agent/agent.ts")).AGENT,
    wait: async () => (await import("./wait.ts")).WAIT,
    completion: async () => (await import("./completion.ts")).COMPLETION,
    version: async () => (await import("./version/version.ts")).VERSION_COMMAND,
  },
  hiddenCommands: {
    "pilot-agent": async () => (await import("./agent/pilot_agent.ts")).PILOT_AGENT,
    "istio-iptables": async () => (await import("./iptables.ts")).ISTIO_IPTABLES,
    "istio-iptables.sh": async () => (await import("./iptables.ts")).ISTIO_IPTABLES_SH,
    "istio-clean-iptables": async () => (await import("./iptables.ts")).ISTIO_CLEAN_IPTABLES,
    "mesh-cni": async () => (await import("./cni/cni.ts")).CNI,
    "options": async () => (await import("./options.ts")).OPTIONS,
    "__complete": async () => (await import("./complete.ts")).completing(PLUGIN),
  },
  aliases: { "--version": "version" },
  // Commands of istioctl, and their short names.
  renamed: {
    "kube-inject": "inject",
    "kube-uninject": "uninject",
    "proxy-config": "explain --of",
    "pc": "explain --of",
    "proxy-status": "explain -A -o short",
    "ps": "explain -A -o short",
    "describe": "explain",
    "analyze": "check",
    "precheck": "check --pre",
    "check-inject": "check injection",
    "bug-report": "snapshot",
    // Commands of kubectl.
    ...Object.fromEntries(["apply", "delete", "exec", "get", "logs"].map((name) => [name, `kubectl ${name}`])),
  },
});
