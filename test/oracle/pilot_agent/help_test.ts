/** docs/names.md says what corresponds to every flag, variable and metric of pilot-agent; UPDATE=1 rewrites it. */
import assert from "node:assert/strict";
import { agentMetrics } from "../../../src/agent/metrics/agent_metrics.ts";
import { controlPlaneMetrics } from "../../../src/agent/metrics/control_plane_metrics.ts";
import { wasmMetrics } from "../../../src/agent/wasm/metrics.ts";
import { FLAGS } from "../../../src/agent/settings/flags.ts";
import { VARIABLES } from "../../../src/agent/settings/variables.ts";
import { type Flag, flagEntries } from "../../../src/golang/flags/mod.ts";
import { FLAGS as CAPTURE_FLAGS } from "../../../src/iptables/settings/flags.ts";
import { fakeWorld } from "../../support/fake_world.ts";
import { type Help, HELP_FILE } from "./help.ts";

const HELP: Help = JSON.parse(await Deno.readTextFile(HELP_FILE));
const PAGE = new URL("../../../docs/names.md", import.meta.url);

/** Variables of the agent that are in no table of settings. */
const OTHERS: Readonly<Record<string, string>> = {
  BLOCKED_CIDRS_IN_JWKS_URIS: "istiod's",
  INBOUND_INTERCEPTION_MODE: "Istio's CNI plugin's",
  INBOUND_TPROXY_MARK: "Istio's CNI plugin's",
  KUBERNETES_SERVICE_HOST: "not needed: nothing depends on whether the pod is in a cluster",
  PILOT_ENABLE_IP_AUTOALLOCATE: "istiod's",
  TOKEN_AUDIENCES: "istiod's: it checks tokens",
  XDS_AUTH_PLAINTEXT: "istiod's: it checks connections",
};

function actionOf(flag: Flag, from: string): string {
  if (flag.retired !== undefined) return `**no effect**${flag.retired === "" ? "" : `: ${flag.retired}`}`;
  return flag.doc.startsWith("Accepted") ? flag.doc : `${from}: ${flag.doc}`;
}

function flagAction(name: string): string {
  const found = flagEntries(FLAGS).map(([, flag]): Flag => flag).find((flag) => flag.name === name);
  return found === undefined ? assert.fail(`no flag --${name}`) : actionOf(found, "read");
}

function variableAction(name: string): string {
  const has = ({ env = [] }: Flag) => env.includes(name);
  const ours = Object.values(VARIABLES).find(has);
  if (ours !== undefined) return actionOf(ours, "read");
  const capture = flagEntries(CAPTURE_FLAGS).map(([, flag]): Flag => flag).find(has);
  if (capture !== undefined) return actionOf(capture, "read by `istio-iptables`");
  if (name.startsWith("ISTIO_META_")) return "read: node metadata";
  return OTHERS[name] ?? assert.fail(`${name} is in no table`);
}

function table(head: string, rows: readonly (readonly string[])[]): string {
  const lines = [head.split("|"), head.split("|").map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return `${lines.join("\n")}\n`;
}

function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

/** Metrics that this program leaves out, with the reason. */
const NO_METRIC: Readonly<Record<string, string>> = {
  num_file_watcher_failures_total: "absent: files are read every second, without a watcher",
};

async function metricAction(name: string): Promise<string> {
  if (name.startsWith("pilot_")) return "istiod's";
  const families = [...controlPlaneMetrics().collect(), ...wasmMetrics().collect()];
  const own = [...families.map((family) => family.name), ...await ownMetrics(), ...FROM_PARTS];
  return own.includes(name) ? `\`istio_agent_${name}\`` : NO_METRIC[name] ?? "absent";
}

/** Metrics that exist only with certificates or with DNS. */
const FROM_PARTS = ["cert_expiry_seconds", "startup_duration_seconds"].concat(
  ["requests_total", "upstream_failures_total", "upstream_request_duration_seconds", "upstream_requests_total"]
    .map((name) => `dns_${name}`),
);

async function ownMetrics(): Promise<string[]> {
  const metrics = agentMetrics(fakeWorld(), "1.0.0");
  metrics.scrapes.add();
  metrics.scrapeFailed("envoy");
  return [...(await metrics.text()).matchAll(/^# TYPE istio_agent_(\w+)/gm)].map(([, name = ""]) => name);
}

Deno.test("docs/names.md has every flag, variable and metric of pilot-agent", async () => {
  const agents = HELP.variables.filter(({ name, isAgents }) =>
    isAgents || Object.values(VARIABLES).some(({ env }) => env[0] === name)
  );
  const others = HELP.variables.filter((each) => !agents.includes(each));
  const text = `
${
    table(
      "flag|pilot-agent's default|here",
      HELP.flags.map((each) => [code(`--${each.name}`), code(each.default), flagAction(each.name)]),
    )
  }
${
    table(
      "variable|pilot-agent's default|here",
      agents.map((each) => [code(each.name), code(each.default), variableAction(each.name)]),
    )
  }
${table("metric|here", await Promise.all(HELP.metrics.map(async (name) => [code(name), await metricAction(name)])))}
The help of pilot-agent has ${others.length} more variables, which belong to istiod: the program links istiod's code and the agent
does not read them.
`;
  assert.ok(HELP.flags.length > 10 && agents.length > 60 && HELP.metrics.length > 20);
  const before = await Deno.readTextFile(PAGE);
  const after = before.replace(
    /(<!-- pilot-agent -->\n)[^]*?(<!-- end -->)/,
    (_all, start: string, end: string) => start + text + end,
  );
  if (Deno.env.get("UPDATE") === "1") await Deno.writeTextFile(PAGE, after);
  assert.ok(after.includes("COMPLIANCE_POLICY"));
  assert.equal(await Deno.readTextFile(PAGE), after);
});
