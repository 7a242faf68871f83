/** Every flag and variable of `istio-iptables` and of this program. */
import { flag, type FlagGroups, type FlagNames, type FlagTable, flagTable, variable } from "../../golang/flags/mod.ts";

export const FLAG_GROUPS = {
  "Flags": {
    proxyPort: flag("-p, --envoy-port PORT", "Port to which outbound TCP connections are redirected", {
      env: ["ENVOY_PORT"],
      default: "15001",
    }),
    inboundPort: flag("-z, --inbound-capture-port PORT", "Port to which inbound TCP connections are redirected", {
      env: ["INBOUND_CAPTURE_PORT"],
      default: "15006",
    }),
    tunnelPort: flag("-e, --inbound-tunnel-port PORT", "HBONE port, which is never captured", {
      env: ["INBOUND_TUNNEL_PORT"],
      default: "15008",
    }),
    proxyUids: flag("-u, --proxy-uid UIDS", "Users that the proxy runs as", {
      env: ["PROXY_UID"],
      defaultDoc: "the ID of $ENVOY_USER, or 1337",
    }),
    proxyGids: flag("-g, --proxy-gid GIDS", "Groups that the proxy runs as", {
      env: ["PROXY_GID"],
      defaultDoc: "as --proxy-uid",
    }),
    mode: flag(
      "-m, --istio-inbound-interception-mode REDIRECT|TPROXY",
      "Method that sends inbound connections to the proxy",
      {
        env: ["ISTIO_INBOUND_INTERCEPTION_MODE"],
        defaultDoc: "REDIRECT",
      },
    ),
    mark: flag("-t, --istio-inbound-tproxy-mark MARK", "Packet mark for TPROXY", {
      env: ["ISTIO_INBOUND_TPROXY_MARK"],
      default: "1337",
    }),
    routeTable: flag("-r, --istio-inbound-tproxy-route-table TABLE", "Routing table for TPROXY", {
      env: ["ISTIO_INBOUND_TPROXY_ROUTE_TABLE"],
      default: "133",
    }),
    inboundPorts: flag("-b, --istio-inbound-ports PORTS", "Inbound ports to capture: a list, or '*' for all", {
      env: ["ISTIO_INBOUND_PORTS"],
    }),
    inboundPortsExclude: flag("-d, --istio-local-exclude-ports PORTS", "Inbound ports not to capture, with -b '*'", {
      env: ["ISTIO_LOCAL_EXCLUDE_PORTS"],
    }),
    excludeInterfaces: flag("-c, --istio-exclude-interfaces NAMES", "Interfaces whose traffic is not captured", {
      env: ["ISTIO_EXCLUDE_INTERFACES"],
    }),
    outboundCidrs: flag("-i, --istio-service-cidr CIDRS", "Outbound destinations to capture: CIDRs, or '*' for all", {
      env: ["ISTIO_SERVICE_CIDR"],
    }),
    outboundCidrsExclude: flag(
      "-x, --istio-service-exclude-cidr CIDRS",
      "Outbound destinations not to capture: CIDRs",
      { env: ["ISTIO_SERVICE_EXCLUDE_CIDR"] },
    ),
    outboundPorts: flag("-q, --istio-outbound-ports PORTS", "Outbound ports to capture for all destinations", {
      env: ["ISTIO_OUTBOUND_PORTS"],
    }),
    outboundPortsExclude: flag("-o, --istio-local-outbound-ports-exclude PORTS", "Outbound ports not to capture", {
      env: ["ISTIO_LOCAL_OUTBOUND_PORTS_EXCLUDE"],
    }),
    virtualInterfaces: flag(
      "-k, --kube-virt-interfaces NAMES",
      "Interfaces of virtual machines, whose inbound traffic counts as outbound",
      { env: ["KUBE_VIRT_INTERFACES"] },
    ),
    redirectDns: flag("--redirect-dns", "Capture DNS for the agent, at port 15053", {
      env: ["ISTIO_META_DNS_CAPTURE", "REDIRECT_DNS"],
    }),
    captureAllDns: flag(
      "--capture-all-dns",
      "With --redirect-dns, capture DNS to every server, not only to servers in /etc/resolv.conf",
      { env: ["CAPTURE_ALL_DNS"] },
    ),
    dropInvalid: flag("--drop-invalid", "Drop packets that connection tracking marks as invalid", {
      env: ["INVALID_DROP", "DROP_INVALID"],
    }),
    dualStack: flag("--dual-stack", "Also capture IPv6 if the pod has both an IPv4 and an IPv6 address", {
      env: ["ISTIO_DUAL_STACK", "DUAL_STACK"],
    }),
    excludeUids: flag("--exclude-uid UIDS", "Users whose outbound traffic is not captured", {
      env: ["EXCLUDE_UID"],
      type: "list",
    }),
    excludePortsForUids: flag(
      "--exclude-outbound-ports-for-uids RULE",
      "Outbound ports not to capture for users, such as tcp:5432,6000-6010:1000; ports may be '*'",
      { env: ["EXCLUDE_OUTBOUND_PORTS_FOR_UIDS"], type: "list" },
    ),
    nativeNftables: flag("--native-nftables", "Use nftables instead of iptables", {
      env: ["NATIVE_NFTABLES"],
    }),
    forceBinary: flag(
      "--force-iptables-binary legacy|nft",
      "Variant of the iptables programs to use instead of detecting it",
      {
        env: ["FORCE_IPTABLES_BINARY"],
        type: "text",
      },
    ),
    backend: flag(
      "--backend auto|nft|iptables-nft|iptables-legacy",
      "Back end for the rules; nft is the same as --native-nftables",
      {
        type: "text",
        default: "auto",
      },
    ),
    via: flag("--via netlink|programs", "Change nf_tables rules directly over netlink, or with nft and iptables", {
      type: "text",
      default: "netlink",
    }),
    dryRun: flag("-n, --dry-run", "Print the changes without making them", {
      old: ["-dryRun"],
      env: ["DRY_RUN"],
    }),
    restoreFormat: flag(
      "-f, --restore-format",
      "Print the plan in the format of iptables-restore; false prints one command for each rule",
      {
        default: "true",
      },
    ),
    skipRuleApply: flag("--skip-rule-apply", "Do not change rules or routes", { env: ["SKIP_RULE_APPLY"] }),
    cleanupOnly: flag("--cleanup-only", "Remove existing rules and routes, and do not add new ones", {
      env: ["CLEANUP_ONLY"],
    }),
    runValidation: flag("--run-validation", "After applying the rules, verify that traffic is captured", {
      env: ["RUN_VALIDATION"],
    }),
    require: flag(
      "--require both|inbound|outbound",
      "Fail with exit code 126 unless connections in these directions are captured",
    ),
    probePort: flag("--iptables-probe-port PORT", "Port that the verification connects to", {
      env: ["IPTABLES_PROBE_PORT"],
      type: "port",
      least: 0,
      default: "15002",
    }),
    probeTimeout: flag("--probe-timeout TIME", "Timeout of the verification", {
      env: ["PROBE_TIMEOUT"],
      type: "duration",
      default: "5s",
    }),
    networkNamespace: flag("--network-namespace FILE", "Path of the network namespace to work in", {
      env: ["NETWORK_NAMESPACE"],
    }),
    wait: flag("--wait TIME", "Time to wait for another run that holds the lock", {
      type: "duration",
      default: "30s",
    }),
    comments: flag("--comments", "Add a comment with its purpose to every rule"),
    output: flag("--output restore|nft|json|commands|table", "Output format of the plan", { type: "text" }),
    logFormat: flag("--log-format text|json", "Format of the log, instead of MESH_LOG_FORMAT", { type: "text" }),
    logLevel: flag(
      "--log-level LEVEL",
      "Minimum level of the log, instead of MESH_LOG_LEVEL: debug, info, warning or error",
      { allowed: ["debug", "info", "warning", "error"] },
    ),
    reconcile: flag("--reconcile", "Accepted and always on: replaces owned rules that differ", { env: ["RECONCILE"] }),
    forceApply: flag("--force-apply", "Accepted and always on: adds missing rules", { env: ["FORCE_APPLY"] }),
    cniMode: flag("--cni-mode", "Accepted and ignored: user and group names are looked up before iptables runs", {
      env: ["CNI_MODE"],
    }),
  },
  "Variables without a flag": {
    ownerGroups: variable("ISTIO_OUTBOUND_OWNER_GROUPS", "Groups whose outbound traffic is captured", { default: "*" }),
    ownerGroupsExclude: variable(
      "ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE",
      "Groups whose outbound traffic is not captured",
    ),
    loopbackCidr: variable(
      "ISTIO_OUTBOUND_IPV4_LOOPBACK_CIDR",
      "Loopback addresses at which an application reaches itself",
      {
        default: "127.0.0.1/32",
      },
    ),
    dryRunFile: variable("DRY_RUN_FILE_PATH", "File to which a dry run also writes its rules"),
    envoyUser: variable("ENVOY_USER", "User name that sets the default of --proxy-uid", { default: "istio-proxy" }),
  },
  "Hidden": {
    istioLogLevel: flag("--log_output_level TEXT", "Istio's log levels", { hidden: true }),
    istioLogJson: flag("--log_as_json", "Log as JSON", { hidden: true }),
    istioLogTarget: flag("--log_target TEXT", "Accepted and ignored: logs go to stderr", { hidden: true }),
    istioLogCaller: flag("--log_caller TEXT", "No effect", { hidden: true }),
    istioLogStack: flag("--log_stacktrace_level TEXT", "No effect", { hidden: true }),
    istioVklog: flag("--vklog TEXT", "No effect", { hidden: true }),
    outputPaths: flag("--output-paths TEXT", "In Istio up to 1.17", {
      retired: "it was removed in Istio 1.18; --output prints the rules",
    }),
    traceLogging: flag("--iptables-trace-logging", "In Istio 1.12 to 1.25", {
      env: ["IPTABLES_TRACE_LOGGING"],
      retired: "it was removed in Istio 1.26; rules are not logged",
    }),
    hostNsenter: flag("--host-nsenter-exec", "In Istio 1.15 to 1.19", {
      env: ["HOST_NSENTER_EXEC"],
      retired: "it was removed in Istio 1.20; --network-namespace enters a namespace",
    }),
    iptablesVersion: flag("--iptables-version TEXT", "In Istio 1.20 to 1.21", {
      env: ["IPTABLES_VERSION"],
      retired: "it was removed in Istio 1.22; --force-iptables-binary chooses the programs",
    }),
    loopbackRedirection: variable("DISABLE_REDIRECTION_ON_LOCAL_LOOPBACK", "Of the shell script of Istio 1.0", {
      retired: "it has had no effect since Istio 1.3",
    }),
    sidecarConfig: variable("ISTIO_SIDECAR_CONFIG", "Of the shell script of Istio 1.0", {
      retired: "the file is not read; set its variables in the environment",
    }),
    clusterConfig: variable("ISTIO_CLUSTER_CONFIG", "Of the shell script of Istio 1.0", {
      retired: "the file is not read; set its variables in the environment",
    }),
    inboundExcludePorts: variable("ISTIO_INBOUND_EXCLUDE_PORTS", "Named in Istio's sidecar.env", {
      retired: "no release reads it; use ISTIO_LOCAL_EXCLUDE_PORTS",
    }),
  },
} as const satisfies FlagGroups;

export type FlagName = FlagNames<typeof FLAG_GROUPS>;

export const FLAGS: FlagTable<FlagName> = flagTable(FLAG_GROUPS);
