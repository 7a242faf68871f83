/**
 * The files, addresses and programs that each command uses at run time. docs/security.md shows them as a table, and
 * test/e2e/security compares them with the output of strace. In patterns, `*` matches any text, and words in capitals
 * stand for paths that the user gives.
 */

/** What a group of commands uses at run time. */
export interface RunTime {
  /** Names of the commands, as users type them, and forms of a command whose flags make a difference. */
  readonly commands: readonly string[];
  /** The Deno permissions that the process keeps while it works. It gives up the others permanently. */
  readonly keeps: string;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Addresses and sockets. */
  readonly contacts: readonly string[];
  readonly listens: readonly string[];
  readonly programs: readonly string[];
}

const NOTHING = { reads: [], writes: [], contacts: [], listens: [], programs: [] } as const;
const ALL = "all";

/** What the runtime and the C library use in every command. */
export const EVERY_COMMAND: Omit<RunTime, "commands" | "keeps"> = {
  ...NOTHING,
  reads: [
    "PROGRAM",
    "/proc/self/*",
    "/proc/PID/*",
    "/proc/meminfo",
    "/proc/sys/*",
    "/proc/stat",
    "/sys/devices/system/cpu/*",
    "/sys/fs/cgroup/*",
    "/sys/kernel/mm/*",
    "/dev/urandom",
    "/dev/null",
    "/etc/localtime",
    "/etc/ld.so.cache",
    "/lib*",
    "/usr/lib*",
  ],
  writes: ["/dev/null", "/proc/self/*"],
};

const RESOLVER = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf"];
/** The C library uses it to look up names. */
const NAME_CACHE = "/var/run/nscd/socket";
const ROOTS = ["/etc/ssl/*"];
const CLUSTER = {
  reads: ["KUBECONFIG", "/var/run/secrets/kubernetes.io/serviceaccount/*", ...RESOLVER, ...ROOTS],
  contacts: ["API_SERVER", "NAME_SERVER:53", NAME_CACHE],
};
const TEMPORARY = ["TMPDIR", "TMPDIR/kubectl-mesh-*"];
/** Folders for sockets; the second one is used if the path in TMPDIR is too long for a socket. */
const SOCKETS = ["TMPDIR/kubectl-mesh-*", "/tmp/kubectl-mesh-*"];
/** A cluster of a kubeconfig, which may name an exec plugin, or turn off the verification of the server. */
const OF_KUBECONFIG = {
  reads: [...CLUSTER.reads, "TMPDIR", "/tmp", ...SOCKETS],
  writes: SOCKETS,
  contacts: [...CLUSTER.contacts, ...SOCKETS],
  listens: SOCKETS,
  programs: ["EXEC_PLUGIN"],
};
/** Programs that print the rules of this network namespace. */
const RULES = ["*/iptables-save", "*/ip6tables-save", "*/iptables-legacy-save", "*/ip6tables-legacy-save", "*/nft"];

/**
 * Where completion remembers names from the cluster. A new file is written next to the old one before it replaces it.
 */
const NAMES = ["KUBECACHEDIR", "KUBECACHEDIR/kubectl-mesh-*"];

/** The folders and the file are created if they do not exist: see docs/inject.md. */

export const RUN_TIME: readonly RunTime[] = [
  {
    ...NOTHING,
    commands: ["completion", "webhook manifests"],
    keeps: "read, env; `completion` all",
  },
  {
    ...NOTHING,
    commands: ["completion install-kubectl"],
    keeps: ALL,
    reads: ["OUTPUT_FOLDER", "*/kubectl_complete-mesh"],
    writes: ["*/kubectl_complete-mesh", "OUTPUT_FOLDER/kubectl-mesh-*"],
  },
  {
    ...OF_KUBECONFIG,
    commands: ["__complete"],
    keeps:
      "all; read, env, net, write where it asks a cluster, and run with an exec plugin; read, env for pods of `-f`",
    reads: [...OF_KUBECONFIG.reads, ...NAMES],
    writes: [...SOCKETS, ...NAMES],
  },
  {
    ...NOTHING,
    commands: ["inject", "uninject"],
    keeps: "read, env; write with `-o FILE`, `-o FOLDER/` and `-i`",
    reads: ["MANIFESTS", "OUTPUT_FOLDER", ...TEMPORARY],
    writes: ["OUTPUT", "OUTPUT_FOLDER/kubectl-mesh-*", "TMPDIR/kubectl-mesh-*"],
  },
  {
    ...NOTHING,
    commands: ["inject -k", "uninject -k"],
    keeps: "as `inject`, once the kustomization is built",
    reads: TEMPORARY,
    writes: ["OUTPUT", "OUTPUT_FOLDER/kubectl-mesh-*", "TMPDIR/kubectl-mesh-*"],
    programs: ["KUBECTL", "KUSTOMIZE"],
  },
  {
    ...NOTHING,
    commands: ["inject --diff=external", "uninject --diff=external"],
    keeps: "read, env, write, run",
    reads: ["MANIFESTS", "OUTPUT_FOLDER", ...TEMPORARY],
    writes: ["OUTPUT", "OUTPUT_FOLDER/kubectl-mesh-*", "TMPDIR/kubectl-mesh-*"],
    programs: ["KUBECTL_EXTERNAL_DIFF"],
  },
  {
    ...NOTHING,
    commands: ["inject -f https://HOST", "uninject -f https://HOST", "check injection -f https://HOST"],
    keeps: "as without the URL, and net",
    reads: ["MANIFESTS", "OUTPUT_FOLDER", ...TEMPORARY, ...RESOLVER, ...ROOTS],
    writes: ["OUTPUT", "OUTPUT_FOLDER/kubectl-mesh-*", "TMPDIR/kubectl-mesh-*"],
    contacts: ["HOST", "NAME_SERVER:53", NAME_CACHE],
  },
  {
    ...OF_KUBECONFIG,
    commands: ["inject --from-cluster"],
    keeps: "read, env, net, write, and run with an exec plugin, while it reads the configuration; then as `inject`",
    reads: [...OF_KUBECONFIG.reads, "MANIFESTS", "OUTPUT_FOLDER"],
    writes: [...SOCKETS, "OUTPUT", "OUTPUT_FOLDER/kubectl-mesh-*"],
  },
  {
    ...OF_KUBECONFIG,
    commands: ["inject --from-cluster --as-webhook"],
    keeps: "as `inject`, and net; run with an exec plugin; write without verification of the server",
    reads: [...OF_KUBECONFIG.reads, "MANIFESTS", "OUTPUT_FOLDER"],
    writes: [...SOCKETS, "OUTPUT", "OUTPUT_FOLDER/kubectl-mesh-*"],
  },
  { ...NOTHING, commands: ["kustomize"], keeps: "read, env", reads: ["MANIFESTS"] },
  {
    ...NOTHING,
    commands: ["explain -f", "config diff FILE FILE", "check injection -f"],
    keeps: "read, env",
    reads: ["MANIFESTS", "OUTPUT_FOLDER"],
  },
  {
    ...OF_KUBECONFIG,
    commands: [
      "version",
      "check",
      "check injection",
      "check upgrade",
      "config snapshot",
      "config diff",
      "explain",
      "snapshot",
    ],
    keeps:
      "read, env, net; run with an exec plugin; write without verification of the server, and for `snapshot` and " +
      "`config snapshot`; all for `version` without a kubeconfig",
    reads: [...OF_KUBECONFIG.reads, "MANIFESTS", "OUTPUT_FOLDER"],
    writes: [...SOCKETS, "OUTPUT", "OUTPUT_FOLDER/kubectl-mesh-*"],
  },
  {
    ...OF_KUBECONFIG,
    commands: ["check --fix"],
    keeps: "read, env, net, run; write without verification of the server",
    programs: ["*/sh", "EXEC_PLUGIN"],
  },
  {
    ...NOTHING,
    commands: ["explain --local", "snapshot --local"],
    keeps: ALL,
    reads: ["/proc/*", "OUTPUT_FOLDER", "TMPDIR", ...RESOLVER, ...ROOTS],
    writes: ["OUTPUT", "OUTPUT_FOLDER/kubectl-mesh-*"],
    contacts: ["127.0.0.1:15000", "127.0.0.1:15020"],
    programs: RULES,
  },
  {
    ...OF_KUBECONFIG,
    commands: ["webhook serve"],
    keeps:
      "at the start read, env, net, ffi, and with a cluster run, write; from the first review on read, env, net, " +
      "and with a cluster run with an exec plugin, write without verification of the server",
    reads: ["CONFIGURATION", ...OF_KUBECONFIG.reads],
    contacts: [...OF_KUBECONFIG.contacts, "127.0.0.1:*"],
    listens: ["0.0.0.0:15017", ":::15017", ":::8080", "0.0.0.0:8080", "127.0.0.1:0", ...SOCKETS],
  },
  {
    ...NOTHING,
    commands: ["iptables generate"],
    keeps: "read, env, sys; write with `DRY_RUN_FILE_PATH`; all with `--network-namespace`, `--run-validation` and " +
      "`--cleanup-only`",
    reads: ["/etc/passwd", "/etc/group", "/etc/resolv.conf", "OUTPUT_FOLDER"],
    writes: ["DRY_RUN_FILE_PATH", "OUTPUT_FOLDER/kubectl-mesh-*"],
  },
  {
    ...NOTHING,
    commands: ["iptables apply", "iptables clean", "iptables verify"],
    keeps: ALL,
    reads: [
      "/etc/passwd",
      "/etc/group",
      "/etc/resolv.conf",
      "/proc/*",
      "*/iptables-*restore",
      "*/ip6tables-*restore",
      "*/xtables-*",
    ],
    contacts: ["192.0.2.*:*", "198.51.100.*:*", "203.0.113.*:*", "2001:db8:*", "POD:*", "NEIGHBOUR:*", "127.0.0.1:*"],
    listens: ["*:0", "*:15001", "*:15002", "*:15006", "*:15053", "POD:*"],
    programs: ["*/iptables-*", "*/ip6tables-*", "*/nft"],
  },
  {
    ...NOTHING,
    commands: ["iptables trace"],
    keeps: ALL,
    reads: ["/proc/*", ...RESOLVER],
    contacts: ["NEIGHBOUR:*", "NAME_SERVER:53", NAME_CACHE],
  },
  {
    ...NOTHING,
    ...CLUSTER,
    commands: ["iptables cni"],
    keeps: ALL,
    reads: ["/etc/passwd", "/etc/group", "/proc/*", "FOLDER/run/*", ...RESOLVER, ...ROOTS],
  },
  {
    ...NOTHING,
    ...CLUSTER,
    commands: ["iptables cni install"],
    keeps: ALL,
    reads: ["FOLDER/*", "/proc/*", ...RESOLVER, ...ROOTS],
    writes: ["FOLDER/net.d/*", "FOLDER/bin/*", "FOLDER/run/*", "FOLDER/net.d", "FOLDER/bin", "FOLDER/run"],
    listens: ["127.0.0.1:*", ":::8000", "0.0.0.0:8000", ":::15014", "0.0.0.0:15014"],
    programs: ["PROGRAM"],
  },
  {
    ...NOTHING,
    commands: ["agent"],
    keeps: ALL,
    reads: [
      "FOLDER/etc/istio/*",
      "FOLDER/etc/certs/*",
      "FOLDER/var/run/secrets/*",
      "FOLDER/var/lib/istio/*",
      "CONFIGURATION",
      "/proc",
      "/proc/*",
      ...RESOLVER,
      ...ROOTS,
    ],
    writes: ["FOLDER/etc/istio/proxy/*", "FOLDER/etc/istio/proxy", "FOLDER/var", "FOLDER/var/*", "/proc/*"],
    contacts: [
      "127.0.0.1:15000",
      "127.0.0.1:15021",
      "127.0.0.1:15090",
      "127.0.0.1:15020",
      "./var/run/secrets/*",
      "./etc/istio/proxy/*",
      "FOLDER/var/run/secrets/*",
      "@kubectl-mesh-*",
      "NAME_SERVER:53",
      NAME_CACHE,
    ],
    listens: [
      ":::15020",
      "0.0.0.0:15020",
      "./etc/istio/proxy/*",
      "./var/run/secrets/*",
      "127.0.0.1:15053",
      "::1:15053",
      "@kubectl-mesh-*",
    ],
    programs: ["ENVOY"],
  },
  {
    ...NOTHING,
    commands: ["agent bootstrap"],
    keeps: ALL,
    reads: ["FOLDER/etc/istio/*", "FOLDER/var/lib/istio/*", "CONFIGURATION"],
    contacts: ["./var/run/secrets/*"],
  },
  {
    ...NOTHING,
    commands: ["agent quit", "agent drain"],
    keeps: ALL,
    reads: [...RESOLVER, ...ROOTS],
    contacts: ["127.0.0.1:15020", "::1:15020", NAME_CACHE],
  },
  {
    ...NOTHING,
    commands: ["wait"],
    keeps: ALL,
    reads: [...RESOLVER, ...ROOTS],
    contacts: ["127.0.0.1:15021", "127.0.0.1:15020", "::1:15021", "::1:15020", NAME_CACHE],
    programs: ["COMMAND"],
  },
];

const COLUMNS = ["command", "keeps", "reads", "writes", "contacts", "listens", "starts"] as const;

/** Returns the table in docs/security.md. */
export function runTimeTable(): string {
  const rows = [
    ["every command", "", ...lists(EVERY_COMMAND)],
    ...RUN_TIME.map((each) => [each.commands.map(code).join(", "), each.keeps, ...lists(each)]),
  ];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  return `\n${line(COLUMNS)}${line(COLUMNS.map(() => "---"))}${rows.map(line).join("")}\n`;
}

function lists({ reads, writes, contacts, listens, programs }: Omit<RunTime, "commands" | "keeps">): string[] {
  return [reads, writes, contacts, listens, programs].map((patterns) => patterns.map(code).join(", "));
}

function code(text: string): string {
  return `\`${text}\``;
}
