/**
 * Every flag and environment variable of `istio-iptables` (spec/iptables.md 1.2, 1.3) and of this program: one table
 * that the parser, the help text and the messages read.
 */

/** How the text of a flag is read before it is checked: what pflag itself refuses. */
export type FlagKind = "text" | "bool" | "uint16" | "duration" | "optionalText";

export interface Flag {
  /** Without dashes; `""` for a setting that has a variable only. */
  readonly long: string;
  readonly short?: string;
  /** The first that is set wins: an alias stands before the name it stands in for. */
  readonly env?: readonly string[];
  readonly kind: FlagKind;
  readonly fallback: string;
  readonly doc: string;
  /** May be given again, each adds. */
  readonly repeatable?: true;
  /** Set: it is read and does nothing; why. */
  readonly retired?: string;
  /** Not for the help text. */
  readonly hidden?: true;
}

const LOG = { kind: "text", fallback: "", hidden: true } as const;

export const FLAGS = {
  proxyPort: {
    long: "envoy-port",
    short: "p",
    env: ["ENVOY_PORT"],
    kind: "text",
    fallback: "15001",
    doc: "Port that outbound TCP connections are redirected to",
  },
  inboundPort: {
    long: "inbound-capture-port",
    short: "z",
    env: ["INBOUND_CAPTURE_PORT"],
    kind: "text",
    fallback: "15006",
    doc: "Port that inbound TCP connections are redirected to",
  },
  tunnelPort: {
    long: "inbound-tunnel-port",
    short: "e",
    env: ["INBOUND_TUNNEL_PORT"],
    kind: "text",
    fallback: "15008",
    doc: "HBONE port, never captured",
  },
  proxyUids: {
    long: "proxy-uid",
    short: "u",
    env: ["PROXY_UID"],
    kind: "text",
    fallback: "",
    doc: "Users whose traffic is the proxy's own (default: that of $ENVOY_USER, else 1337)",
  },
  proxyGids: {
    long: "proxy-gid",
    short: "g",
    env: ["PROXY_GID"],
    kind: "text",
    fallback: "",
    doc: "Groups whose traffic is the proxy's own (default: as --proxy-uid)",
  },
  mode: {
    long: "istio-inbound-interception-mode",
    short: "m",
    env: ["ISTIO_INBOUND_INTERCEPTION_MODE"],
    kind: "text",
    fallback: "",
    doc: "How inbound connections reach the proxy: REDIRECT (default) or TPROXY",
  },
  mark: {
    long: "istio-inbound-tproxy-mark",
    short: "t",
    env: ["ISTIO_INBOUND_TPROXY_MARK"],
    kind: "optionalText",
    fallback: "1337",
    doc: "Packet mark of TPROXY",
  },
  routeTable: {
    long: "istio-inbound-tproxy-route-table",
    short: "r",
    env: ["ISTIO_INBOUND_TPROXY_ROUTE_TABLE"],
    kind: "text",
    fallback: "133",
    doc: "Routing table of TPROXY",
  },
  inboundPorts: {
    long: "istio-inbound-ports",
    short: "b",
    env: ["ISTIO_INBOUND_PORTS"],
    kind: "text",
    fallback: "",
    doc: "Inbound ports to capture: a list, or '*' for all",
  },
  inboundPortsExclude: {
    long: "istio-local-exclude-ports",
    short: "d",
    env: ["ISTIO_LOCAL_EXCLUDE_PORTS"],
    kind: "text",
    fallback: "",
    doc: "Inbound ports not to capture, with -b '*'",
  },
  excludeInterfaces: {
    long: "istio-exclude-interfaces",
    short: "c",
    env: ["ISTIO_EXCLUDE_INTERFACES"],
    kind: "text",
    fallback: "",
    doc: "Interfaces without any capture",
  },
  outboundCidrs: {
    long: "istio-service-cidr",
    short: "i",
    env: ["ISTIO_SERVICE_CIDR"],
    kind: "text",
    fallback: "",
    doc: "Outbound destinations to capture: CIDRs, or '*' for all",
  },
  outboundCidrsExclude: {
    long: "istio-service-exclude-cidr",
    short: "x",
    env: ["ISTIO_SERVICE_EXCLUDE_CIDR"],
    kind: "text",
    fallback: "",
    doc: "Outbound destinations not to capture: CIDRs",
  },
  outboundPorts: {
    long: "istio-outbound-ports",
    short: "q",
    env: ["ISTIO_OUTBOUND_PORTS"],
    kind: "text",
    fallback: "",
    doc: "Outbound ports captured whatever the destination",
  },
  outboundPortsExclude: {
    long: "istio-local-outbound-ports-exclude",
    short: "o",
    env: ["ISTIO_LOCAL_OUTBOUND_PORTS_EXCLUDE"],
    kind: "text",
    fallback: "",
    doc: "Outbound ports not to capture",
  },
  virtualInterfaces: {
    long: "kube-virt-interfaces",
    short: "k",
    env: ["KUBE_VIRT_INTERFACES"],
    kind: "text",
    fallback: "",
    doc: "Interfaces whose inbound traffic (of virtual machines) counts as outbound",
  },
  ownerGroups: {
    long: "",
    env: ["ISTIO_OUTBOUND_OWNER_GROUPS"],
    kind: "text",
    fallback: "*",
    doc: "Groups whose outbound traffic is captured",
  },
  ownerGroupsExclude: {
    long: "",
    env: ["ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE"],
    kind: "text",
    fallback: "",
    doc: "Groups whose outbound traffic is not captured",
  },
  loopbackCidr: {
    long: "",
    env: ["ISTIO_OUTBOUND_IPV4_LOOPBACK_CIDR"],
    kind: "text",
    fallback: "127.0.0.1/32",
    doc: "What an application reaches itself by",
  },
  redirectDns: {
    long: "redirect-dns",
    env: ["ISTIO_META_DNS_CAPTURE", "REDIRECT_DNS"],
    kind: "bool",
    fallback: "false",
    doc: "Capture DNS for the agent (port 15053)",
  },
  captureAllDns: {
    long: "capture-all-dns",
    env: ["CAPTURE_ALL_DNS"],
    kind: "bool",
    fallback: "false",
    doc: "With --redirect-dns: whatever server is asked, not only those of /etc/resolv.conf",
  },
  dropInvalid: {
    long: "drop-invalid",
    env: ["INVALID_DROP", "DROP_INVALID"],
    kind: "bool",
    fallback: "false",
    doc: "Drop packets that connection tracking calls invalid",
  },
  dualStack: {
    long: "dual-stack",
    env: ["ISTIO_DUAL_STACK", "DUAL_STACK"],
    kind: "bool",
    fallback: "false",
    doc: "Capture IPv6 too if the pod has such an address beside an IPv4 one",
  },
  excludeUids: {
    long: "exclude-uid",
    env: ["EXCLUDE_UID"],
    kind: "text",
    fallback: "",
    repeatable: true,
    doc: "Users whose outbound traffic is not captured",
  },
  excludePortsForUids: {
    long: "exclude-outbound-ports-for-uids",
    env: ["EXCLUDE_OUTBOUND_PORTS_FOR_UIDS"],
    kind: "text",
    fallback: "",
    repeatable: true,
    doc: "PROTOCOL:PORTS:UIDS, such as tcp:5432,6000-6010:1000; ports may be '*'",
  },
  nativeNftables: {
    long: "native-nftables",
    env: ["NATIVE_NFTABLES"],
    kind: "bool",
    fallback: "false",
    doc: "Use nft instead of iptables",
  },
  forceBinary: {
    long: "force-iptables-binary",
    env: ["FORCE_IPTABLES_BINARY"],
    kind: "text",
    fallback: "",
    doc: "legacy or nft: use these iptables programs, whatever is found",
  },
  dryRun: {
    long: "dry-run",
    short: "n",
    env: ["DRY_RUN"],
    kind: "bool",
    fallback: "false",
    doc: "Print what would be done and touch nothing",
  },
  dryRunFile: {
    long: "",
    env: ["DRY_RUN_FILE_PATH"],
    kind: "text",
    fallback: "",
    doc: "File that a dry run also writes its rules to",
  },
  restoreFormat: {
    long: "restore-format",
    short: "f",
    kind: "bool",
    fallback: "true",
    doc: "false: print one command for each rule",
  },
  skipRuleApply: {
    long: "skip-rule-apply",
    env: ["SKIP_RULE_APPLY"],
    kind: "bool",
    fallback: "false",
    doc: "Leave rules and routes alone",
  },
  cleanupOnly: {
    long: "cleanup-only",
    env: ["CLEANUP_ONLY"],
    kind: "bool",
    fallback: "false",
    doc: "Take out what is there and add nothing",
  },
  runValidation: {
    long: "run-validation",
    env: ["RUN_VALIDATION"],
    kind: "bool",
    fallback: "false",
    doc: "Prove at the end that traffic is captured",
  },
  probePort: {
    long: "iptables-probe-port",
    env: ["IPTABLES_PROBE_PORT"],
    kind: "uint16",
    fallback: "15002",
    doc: "Port that the proof connects to",
  },
  probeTimeout: {
    long: "probe-timeout",
    env: ["PROBE_TIMEOUT"],
    kind: "duration",
    fallback: "5s",
    doc: "How long the proof may take",
  },
  networkNamespace: {
    long: "network-namespace",
    env: ["NETWORK_NAMESPACE"],
    kind: "text",
    fallback: "",
    doc: "Path of the network namespace to work in",
  },
  wait: {
    long: "wait",
    kind: "duration",
    fallback: "30s",
    doc: "How long to wait for another run that holds the lock",
  },
  comments: {
    long: "comments",
    kind: "bool",
    fallback: "false",
    doc: "Give every rule a comment that says what it is there for",
  },
  output: {
    long: "output",
    kind: "text",
    fallback: "",
    doc: "How to print the plan: restore, nft, json, commands or table",
  },
  logFormat: { long: "log-format", kind: "text", fallback: "", doc: "text or json" },
  logLevel: { long: "log-level", kind: "text", fallback: "", doc: "debug, info, warning or error" },
  help: { long: "help", short: "h", kind: "bool", fallback: "false", doc: "Print this text" },
  envoyUser: {
    long: "",
    env: ["ENVOY_USER"],
    kind: "text",
    fallback: "istio-proxy",
    doc: "User that --proxy-uid is looked up by",
  },
  reconcile: {
    long: "reconcile",
    env: ["RECONCILE"],
    kind: "bool",
    fallback: "false",
    doc: "Always on here: other rules of ours are replaced",
  },
  forceApply: {
    long: "force-apply",
    env: ["FORCE_APPLY"],
    kind: "bool",
    fallback: "false",
    doc: "Always on here: what is missing is added",
  },
  cniMode: {
    long: "cni-mode",
    env: ["CNI_MODE"],
    kind: "bool",
    fallback: "false",
    doc: "Accepted; user and group names are looked up before iptables runs",
  },
  istioLogLevel: { ...LOG, long: "log_output_level", doc: "Istio's log levels" },
  istioLogJson: { ...LOG, long: "log_as_json", kind: "bool", fallback: "false", doc: "Log as JSON" },
  istioLogTarget: { ...LOG, long: "log_target", doc: "Logs go to stderr" },
  istioLogCaller: { ...LOG, long: "log_caller", doc: "No effect" },
  istioLogStack: { ...LOG, long: "log_stacktrace_level", doc: "No effect" },
  istioVklog: { ...LOG, long: "vklog", doc: "No effect" },
  outputPaths: {
    long: "output-paths",
    kind: "text",
    fallback: "",
    doc: "Until 1.17",
    hidden: true,
    retired: "it was removed in Istio 1.18; --output prints the rules",
  },
  traceLogging: {
    long: "iptables-trace-logging",
    env: ["IPTABLES_TRACE_LOGGING"],
    kind: "bool",
    fallback: "false",
    doc: "1.12 to 1.25",
    hidden: true,
    retired: "it was removed in Istio 1.26; rules are not logged",
  },
  hostNsenter: {
    long: "host-nsenter-exec",
    env: ["HOST_NSENTER_EXEC"],
    kind: "bool",
    fallback: "false",
    doc: "1.15 to 1.19",
    hidden: true,
    retired: "it was removed in Istio 1.20; --network-namespace enters a namespace",
  },
  iptablesVersion: {
    long: "iptables-version",
    env: ["IPTABLES_VERSION"],
    kind: "text",
    fallback: "",
    doc: "1.20 to 1.21",
    hidden: true,
    retired: "it was removed in Istio 1.22; --force-iptables-binary chooses the programs",
  },
  loopbackRedirection: {
    long: "",
    env: ["DISABLE_REDIRECTION_ON_LOCAL_LOOPBACK"],
    kind: "text",
    fallback: "",
    doc: "Shell script of 1.0",
    hidden: true,
    retired: "it has had no effect since Istio 1.3",
  },
  sidecarConfig: {
    long: "",
    env: ["ISTIO_SIDECAR_CONFIG"],
    kind: "text",
    fallback: "",
    doc: "Shell script of 1.0",
    hidden: true,
    retired: "the file is not read; give its variables in the environment",
  },
  clusterConfig: {
    long: "",
    env: ["ISTIO_CLUSTER_CONFIG"],
    kind: "text",
    fallback: "",
    doc: "Shell script of 1.0",
    hidden: true,
    retired: "the file is not read; give its variables in the environment",
  },
  inboundExcludePorts: {
    long: "",
    env: ["ISTIO_INBOUND_EXCLUDE_PORTS"],
    kind: "text",
    fallback: "",
    doc: "Named in sidecar.env",
    hidden: true,
    retired: "no release reads it; use ISTIO_LOCAL_EXCLUDE_PORTS",
  },
} as const satisfies Readonly<Record<string, Flag>>;

/** The name of a setting. */
export type FlagName = keyof typeof FLAGS;

/** The table as a list of records of the same type. */
export const FLAG_LIST: readonly (readonly [FlagName, Flag])[] = flagEntries();

function flagEntries(): (readonly [FlagName, Flag])[] {
  const isName = (name: string): name is FlagName => Object.hasOwn(FLAGS, name);
  return Object.keys(FLAGS).filter(isName).map((name) => [name, FLAGS[name]] as const);
}
