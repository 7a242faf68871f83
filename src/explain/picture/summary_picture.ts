/** Draws the picture of a pod. */
import { ageText } from "../../base/text/mod.ts";
import type {
  Certificate,
  Configuration,
  Lane,
  PodSummary,
  SummaryContainer,
  SummaryPort,
} from "../summary/pod_summary_schema.ts";
import type { Box, FactRow, LaneRow, Picture, Section } from "./picture.ts";

/** Returns the picture of a pod: its containers as boxes, its traffic as lanes, and facts. */
export function summaryPicture(summary: PodSummary): Picture {
  const { pod, node, addresses, phase, containers, findings } = summary;
  const place = [phase, node === "" ? "" : `on ${node}`, addresses.join(", ")].filter((part) => part !== "");
  return {
    title: `pod ${pod === "" ? "(unknown name)" : pod}`,
    subtitle: place.join(" · "),
    boxesTitle: "Containers in start order",
    boxesIn: "row",
    boxes: containers.map(boxOf),
    sections: [
      trafficSection(summary, "inbound"),
      trafficSection(summary, "outbound"),
      certificateSection(summary.certificate),
      ambientSection(summary.ambient),
      configurationSection(summary.configuration),
      stateSection(summary),
    ],
    notes: findings.map(({ result, message, fix }) => ({ mark: result, text: message, fix })),
  };
}

const KINDS: Readonly<Record<SummaryContainer["kind"], string>> = {
  init: "init container",
  sidecar: "native sidecar",
  container: "container",
  ephemeral: "ephemeral container",
};

const ROLES: Readonly<Record<SummaryContainer["role"], string>> = {
  proxy: "Envoy and the agent",
  capture: "sets the rules that redirect traffic",
  application: "",
};

function boxOf({ name, kind, role, image, message, result }: SummaryContainer, at: number): Box {
  const what = [KINDS[kind], ROLES[role]].filter((part) => part !== "").join(": ");
  return { title: `${at + 1} ${name}`, mark: result, lines: [what, shortImage(image), message] };
}

/** Returns the image without its registry and path. */
function shortImage(image: string): string {
  return image.slice(image.lastIndexOf("/") + 1);
}

const SOURCES: Readonly<Record<PodSummary["traffic"]["source"], string>> = {
  seen: "read from the kernel",
  planned: "planned",
  unknown: "unknown",
};

function trafficSection({ traffic }: PodSummary, direction: Lane["direction"]): Section {
  const { ports, lanes, source, message, mode } = traffic;
  const isInbound = direction === "inbound";
  const own = lanes.filter((lane) => lane.direction === direction);
  const captures = own.find(({ path }) => path === "captured");
  const proxy = captures === undefined ? "Envoy" : takerOf(captures);
  const rows = [
    ...isInbound ? ports.filter(({ path }) => path !== "proxy").map((port) => portLane(port, proxy)) : [],
    ...own.filter(({ path, what }) => !isInbound || path === "bypasses" || ports.length === 0 || what !== "").map((
      lane,
    ) => laneRow(lane)),
  ];
  const how = mode === "" ? message : `${SOURCES[source]}, by ${mode}`;
  const title = `${isInbound ? "Inbound" : "Outbound"} traffic (${how})`;
  return { title, column: "left", rows };
}

function portLane({ port, protocol, name, container, path, message, result }: SummaryPort, proxy: string): LaneRow {
  const from = `${port}/${protocol}${name === "" ? "" : ` ${name}`}`;
  const note = path === "unknown" ? `${message}; it is unknown whether the port is captured` : message;
  const to = container === "" ? "a process" : container;
  return { kind: "lane", mark: result, from, via: path === "captured" ? proxy : "", to, note };
}

/** Returns the process and port that capture a lane, such as `Envoy 15001` or `agent 15053`. */
function takerOf({ message }: Lane): string {
  const [, port = "", who = ""] = /port (\d+) of (?:the )?(\w+)/.exec(message) ?? [];
  return `${who || "Envoy"} ${port}`.trim();
}

function laneRow(lane: Lane): LaneRow {
  const { direction, path, what: from, message } = lane;
  const isCaptured = path === "captured";
  const to = direction === "inbound" ? "application" : isCaptured ? "mesh" : "network";
  const how = isCaptured ? { via: takerOf(lane), note: "" } : { via: "", note: message };
  return { kind: "lane", mark: undefined, from, to, ...how };
}

function fact(label: string, text: string, mark: FactRow["mark"] = undefined): FactRow[] {
  return text === "" ? [] : [{ kind: "fact", mark, label, text }];
}

const MAX_ROOTS = 4;

function certificateSection({ identity, issuer, notAfter, roots, result, message }: Certificate): Section {
  const more = roots.length > MAX_ROOTS ? `, and ${roots.length - MAX_ROOTS} more` : "";
  const names = roots.slice(0, MAX_ROOTS).map((root) => `${root.subject} until ${dayOf(root.notAfter)}`);
  return {
    title: "Certificate",
    column: "right",
    rows: [
      ...fact("state", message, result),
      ...fact("identity", identity),
      ...fact("signed by", issuer),
      ...fact("expires", notAfter.replace(".000Z", "Z")),
      ...fact("roots", roots.length === 0 ? "" : `${names.join("; ")}${more}`),
    ],
  };
}

function dayOf(time: string): string {
  return time.slice(0, 10);
}

function ambientSection(ambient: PodSummary["ambient"]): Section {
  const { tunnel, waypoint, network, services, policies } = ambient ?? NO_AMBIENT;
  return {
    title: "Ambient mode",
    column: "right",
    rows: [
      ...fact("tunnels", tunnel === null ? "" : tunnel ? "by HBONE, port 15008" : "none"),
      ...fact("waypoint", waypoint),
      ...fact("network", network),
      ...fact("services", services.join(", ")),
      ...fact("policies", policies.join(", ")),
    ],
  };
}

const NO_AMBIENT = { tunnel: null, waypoint: "", network: "", services: [], policies: [] };

function configurationSection(configuration: Configuration): Section {
  const { controlPlane, revision, connected, istio, envoy, state, uptime, types, rejected } = configuration;
  const link = connected === null ? "" : connected ? ", connected" : ", not connected";
  const plane = controlPlane === "" ? "" : `${controlPlane}${revision === "" ? "" : `, revision ${revision}`}${link}`;
  const proxy = [
    istio === "" || istio === "unknown" ? "" : `Istio ${istio}`,
    configuration.isOwnAgent ? "agent: kubectl-mesh" : "",
    envoy === "" ? "" : `Envoy ${envoy}`,
    state,
    uptime === null ? "" : `up ${ageText(uptime)}`,
  ].filter((part) => part !== "");
  return {
    title: "Configuration",
    column: "right",
    rows: [
      ...fact("state", configuration.message, configuration.result),
      ...fact("istiod", plane),
      ...fact("proxy", proxy.join(", ")),
      ...types.flatMap(({ type, resources, age, version, warming, rejections }) =>
        fact(
          type,
          [
            resources === null ? "" : String(resources),
            age === null ? "" : `${ageText(age)} old`,
            version === "" ? "" : `version ${version}`,
            warming === 0 ? "" : `${warming} wait`,
            (rejections ?? 0) === 0
              ? ""
              : `${rejections} ${rejections === 1 ? "update" : "updates"} rejected since start`,
          ].filter((part) => part !== "").join(", "),
        )
      ),
      ...rejected.slice(1).flatMap(({ name, message }) => fact("rejected", `${name}: ${message}`, "error")),
    ],
  };
}

function stateSection({ readiness, compared, differences, ambient }: PodSummary): Section {
  return {
    title: "Readiness and injection",
    column: "right",
    rows: [
      ...fact("ready", readiness.message, readiness.result),
      ...ambient !== null ? [] : !compared
        ? fact(
          "injection",
          "the injected values are unknown: the annotation sidecar.istio.io/status is absent",
          "unknown",
        )
        : differences.length === 0
        ? fact("injection", "the pod runs with the injected values")
        : differences.flatMap(({ field, wrote, runs }) =>
          fact("changed", `${field}: injected "${wrote}", ${runs}`, "error")
        ),
    ],
  };
}
