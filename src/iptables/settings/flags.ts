/** Every flag and variable of `istio-iptables` and of this program. */
import { flag, type FlagGroups, type FlagNames, type FlagTable, flagTable, variable } from "../../golang/flags/mod.ts";

export const FLAG_GROUPS = {
  "Flags": {
    proxyPort: flag("-p, --envoy-port PORT", "Port that outbound TCP connections are redirected to", {
      env: ["ENVOY_PORT"],
      default: "15001",
    }),
    inboundPort: flag("-z, --inbound-capture-port PORT", "Port that inbound TCP connections are redirected to", {
      env: ["INBOUND_CAPTURE_PORT"],
      default: "15006",
    }),
    tunnelPort: flag("-e, --inbound-tunnel-port PORT", "HBONE port, never captured", {
      env: ["INBOUND_TUNNEL_PORT"],
      default: "15008",
    }),
    proxyUids: flag("-u, --proxy-uid UIDS", "Users that the proxy runs as", {
      env: ["PROXY_UID"],
      defaultDoc: "the ID of $ENVOY_USER, else 1337",
    }),
    proxyGids: flag("-g, --proxy-gid GIDS", "Groups that the proxy runs as", {
      env: ["PROXY_GID"],
      defaultDoc: "as --proxy-uid",
    }),
    mode: flag("-m, --istio-inbound-interception-mode REDIRECT|TPROXY", "How inbound connections reach the proxy", {
      env: ["ISTIO_INBOUND_INTERCEPTION_MODE"],
      defaultDoc: "REDIRECT",
    }),
    mark: flag("-t, --istio-inbound-tproxy-mark MARK", "Packet mark of TPROXY", {
      env: ["ISTIO_INBOUND_TPROXY_MARK"],
      default: "1337",
    }),
    routeTable: flag("-r, --istio-inbound-tproxy-route-table TABLE", "Routing table of TPROXY", {
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
    outboundPorts: flag("-q, --istio-outbound-ports PORTS", "Outbound ports to capture, whatever the destination", {
      env: ["ISTIO_OUTBOUND_PORTS"],
    }),
    outboundPortsExclude: flag("-o, --istio-local-outbound-ports-exclude PORTS", "Outbound ports not to capture", {
      env: ["ISTIO_LOCAL_OUTBOUND_PORTS_EXCLUDE"],
    }),
    virtualInterfaces: flag(
      "-k, --kube-virt-interfaces NAMES",
      "Interfaces whose inbound traffic (of virtual machines) counts as outbound",
      { env: ["KUBE_VIRT_INTERFACES"] },
    ),
    redirectDns: flag("--redirect-dns", "Capture DNS for the agent (port 15053)", {
      env: ["ISTIO_META_DNS_CAPTURE", "REDIRECT_DNS"],
    }),
    captureAllDns: flag(
      "--capture-all-dns",
      "With --redirect-dns: capture DNS to every server, not only to those in /etc/resolv.conf",
      { env: ["CAPTURE_ALL_DNS"] },
    ),
    dropInvalid: flag("--drop-invalid", "Drop packets that connection tracking marks as invalid", {
      env: ["INVALID_DROP", "DROP_INVALID"],
    }),
    dualStack: flag("--dual-stack", "Capture IPv6 too if the pod has an IPv4 and an IPv6 address", {
      env: ["ISTIO_DUAL_STACK", "DUAL_STACK"],
    }),
    excludeUids: flag("--exclude-uid UIDS", "Users whose outbound traffic is not captured", {
      env: ["EXCLUDE_UID"],
      type: "list",
    }),
    excludePortsForUids: flag(
      "--exclude-outbound-ports-for-uids RULE",
      "PROTOCOL:PORTS:UIDS, such as tcp:5432,6000-6010:1000; ports may be '*'",
      { env: ["EXCLUDE_OUTBOUND_PORTS_FOR_UIDS"], type: "list" },
    ),
    nativeNftables: flag("--native-nftables", "Use nftables instead of iptables", {
      env: ["NATIVE_NFTABLES"],
    }),
    forceBinary: flag(
      "--force-iptables-binary legacy|nft",
      "Use these iptables programs without detecting which are in use",
      {
        env: ["FORCE_IPTABLES_BINARY"],
        type: "text",
      },
    ),
    backend: flag(
      "--backend auto|nft|iptables-nft|iptables-legacy",
      "Kind of rules; nft is the same as --native-nftables",
      {
        type: "text",
        default: "auto",
      },
    ),
    via: flag("--via netlink|programs", "Change nf_tables rules directly over netlink, or with nft and iptables", {
      type: "text",
      default: "netlink",
    }),
    dryRun: flag("-n, --dry-run", "Print what would be done and change nothing", {
      old: ["-dryRun"],
      env: ["DRY_RUN"],
    }),
    restoreFormat: flag("-f, --restore-format", "Print for iptables-restore; false prints one command for each rule", {
      default: "true",
    }),
    skipRuleApply: flag("--skip-rule-apply", "Change no rules or routes", { env: ["SKIP_RULE_APPLY"] }),
    cleanupOnly: flag("--cleanup-only", "Remove existing rules and routes and add none", { env: ["CLEANUP_ONLY"] }),
    runValidation: flag("--run-validation", "Prove at the end that traffic is captured", { env: ["RUN_VALIDATION"] }),
    require: flag(
      "--require both|inbound|outbound",
      "Fail with exit code 126 unless connections of these directions are captured",
    ),
    probePort: flag("--iptables-probe-port PORT", "Port that the proof connects to", {
      env: ["IPTABLES_PROBE_PORT"],
      type: "port",
      least: 0,
      default: "15002",
    }),
    probeTimeout: flag("--probe-timeout TIME", "Timeout of the proof", {
      env: ["PROBE_TIMEOUT"],
      type: "duration",
      default: "5s",
    }),
    networkNamespace: flag("--network-namespace FILE", "Path of the network namespace to work in", {
      env: ["NETWORK_NAMESPACE"],
    }),
    wait: flag("--wait TIME", "How long to wait for another run that holds the lock", {
      type: "duration",
      default: "30s",
    }),
    comments: flag("--comments", "Give every rule a comment that says its purpose"),
    output: flag("--output restore|nft|json|commands|table", "How to print the plan", { type: "text" }),
    logFormat: flag("--log-format text|json", "Format of the log, instead of MESH_LOG_FORMAT", { type: "text" }),
    logLevel: flag(
      "--log-level LEVEL",
      "Minimum level of the log, instead of MESH_LOG_LEVEL: debug, info, warning or error",
      { allowed: ["debug", "info", "warning", "error"] },
    ),
    reconcile: flag("--reconcile", "Always on: owned rules that differ are replaced", { env: ["RECONCILE"] }),
    forceApply: flag("--force-apply", "Always on: missing rules are added", { env: ["FORCE_APPLY"] }),
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
      "Loopback addresses by which an application reaches itself",
      {
        default: "127.0.0.1/32",
      },
    ),
    dryRunFile: variable("DRY_RUN_FILE_PATH", "File that a dry run also writes its rules to"),
    envoyUser: variable("ENVOY_USER", "User name from which --proxy-uid is looked up", { default: "istio-proxy" }),
  },
  "Hidden": {
    istioLogLevel: flag("--log_output_level TEXT", "Istio's log levels", { hidden: true }),
    istioLogJson: flag("--log_as_json", "Log as JSON", { hidden: true }),
    istioLogTarget: flag("--log_target TEXT", "Logs go to stderr", { hidden: true }),
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
      retired: "the file is not read; give its variables in the environment",
    }),
    clusterConfig: variable("ISTIO_CLUSTER_CONFIG", "Of the shell script of Istio 1.0", {
      retired: "the file is not read; give its variables in the environment",
    }),
    inboundExcludePorts: variable("ISTIO_INBOUND_EXCLUDE_PORTS", "Named in Istio's sidecar.env", {
      retired: "no release reads it; use ISTIO_LOCAL_EXCLUDE_PORTS",
    }),
  },
} as const satisfies FlagGroups;

export type FlagName = FlagNames<typeof FLAG_GROUPS>;

export const FLAGS: FlagTable<FlagName> = flagTable(FLAG_GROUPS);
