/** The cases of Istio's own test of injection, read from the text of its `inject_test.go`. */
import { newMap, type ValueMap } from "../../src/base/value.ts";
import { asMap, merged } from "./values.ts";
import { parseYaml } from "../../src/yaml/mod.ts";

/** A case, as `TestInjection` runs it. */
export interface GoCase {
  readonly input: string;
  /** The name of the expected file. The file does not exist if an error is expected. */
  readonly want: string;
  /** Values and components: `values.global.network=network1`. */
  readonly flags: readonly string[];
  /** The file of an IstioOperator. */
  readonly operator: string | undefined;
  /** Changes to the mesh configuration. */
  readonly mesh: ValueMap;
  /** A part of the error's text, in lower case. */
  readonly error: string | undefined;
  readonly setup: Setup;
  /** Go statements that are not understood: the case cannot be compared. */
  readonly unread: readonly string[];
}

/** What a case changes in the environment of the injector. */
export interface Setup {
  readonly native?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly isOpenShift?: true;
}

/** All cases of a release: the cases of the test, then one for each other file of its folder. */
export function goCases(source: string, files: readonly string[]): readonly GoCase[] {
  const body = /func TestInjection\([^]*?\n}\n/.exec(source)?.[0] ?? "";
  const table = /cases := \[\](?:testCase|struct \{[^]*?\n\t})\{\n([^]*?)\n\t}\n/.exec(body)?.[1] ?? "";
  const named = table.split(/^\t\t\{\n/m).slice(1).map(readCase);
  const tested = new Set(named.map(({ want }) => want));
  const others = files.filter((name) => name.endsWith(".yaml") && !name.endsWith(".iop.yaml"))
    .filter((name) => !tested.has(`${name}.injected`))
    .map((name) => readCase(`in: "${name}",\nwant: "${name}.injected",`));
  return [...named, ...others];
}

function readCase(text: string): GoCase {
  const field = (name: string) => new RegExp(`\\b${name}:\\s+"([^"]*)"`).exec(text)?.[1];
  const input = field("in") ?? "";
  const flags = /setFlags:\s+\[\]string\{([^]*?)\}/.exec(text)?.[1] ?? "";
  const unread: string[] = [];
  const mesh = readMesh(functionOf(text, "mesh"), unread);
  const setup = readSetup(functionOf(text, "setup"), unread);
  return {
    input,
    want: field("want") ?? `${input}.injected`,
    flags: [...flags.matchAll(/["`]([^"`\n]+)["`]/g)].map(([, flag = ""]) => flag),
    operator: field("inFilePath"),
    mesh,
    error: field("expectedError"),
    setup,
    unread,
  };
}

/** The statements of a function in a case, without white space. */
function functionOf(text: string, name: string): readonly string[] {
  const body = new RegExp(`\\n\\t\\t\\t${name}:\\s+func\\([^)]*\\) \\{\\n([^]*?)\\n\\t\\t\\t\\},`).exec(text)?.[1] ??
    "";
  return body.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

/** Statements about the mesh configuration, and what they set in YAML; `$1` is a group. */
const MESH: readonly (readonly [RegExp, string])[] = [
  [/^m\.DefaultConfig\.InterceptionMode = meshapi\.ProxyConfig_(\w+)$/, "defaultConfig: {interceptionMode: $1}"],
  [/^m\.DefaultConfig\.DrainDuration = .*\(time\.Second \* (\d+)\)$/, "defaultConfig: {drainDuration: $1s}"],
  [
    /^m\.DefaultConfig\.ParentShutdownDuration = .*\(time\.Second \* (\d+)\)$/,
    "defaultConfig: {parentShutdownDuration: $1s}",
  ],
  [/^m\.DefaultConfig\.ProxyMetadata\["(\w+)"\] = "(.*)"$/, "defaultConfig: {proxyMetadata: {$1: $2}}"],
  [/^m\.DefaultConfig\.Tracing = &meshapi\.Tracing\{\}$/, "defaultConfig: {tracing: {}}"],
  [/^Mode: meshapi\.MeshConfig_InboundTrafficPolicy_(\w+),$/, "inboundTrafficPolicy: {mode: $1}"],
  [
    /^ServiceAttributeEnrichment: meshapi\.MeshConfig_ExtensionProvider_(\w+),$/,
    "extensionProviders: [{name: otel, opentelemetry: {port: 4317, service: otel-collector.observability.svc.cluster.local, " +
    "serviceAttributeEnrichment: $1}}]",
  ],
];

/** Lines that only open or close a statement of other lines. */
const MESH_FRAMES =
  /^(?:[})\],]+|if m\.DefaultConfig\.ProxyMetadata == nil \{|m\.DefaultConfig\.ProxyMetadata = map\[string\]string\{\}|m\.InboundTrafficPolicy = &meshapi\.MeshConfig_InboundTrafficPolicy\{|m\.ExtensionProviders = append\(.*|Name: +"otel",|Provider: &.*\{|Opentelemetry: &.*\{|Port: +4317,|Service: +"otel-collector\.observability\.svc\.cluster\.local",)$/;

function readMesh(statements: readonly string[], unread: string[]): ValueMap {
  let mesh = newMap();
  for (const statement of statements) {
    const known = MESH.find(([pattern]) => pattern.test(statement));
    if (known !== undefined) mesh = merged(mesh, asMap(parseYaml(statement.replace(...known))));
    else if (!MESH_FRAMES.test(statement)) unread.push(statement);
  }
  return mesh;
}

const SETUPS: readonly (readonly [RegExp, Setup])[] = [
  [/EnableNativeSidecars(?:\.Name)?, (?:"true"|features\.NativeSidecarModeEnabled)\)$/, {
    native: true,
    env: { ENABLE_NATIVE_SIDECARS: "true" },
  }],
  [/EnableNativeSidecars(?:\.Name)?, (?:"false"|features\.NativeSidecarModeDisabled)\)$/, { native: false }],
  [/Platform\.Name, platform\.OpenShift\)$/, { isOpenShift: true }],
  [/CompliancePolicy, "fips-140-3"\)$/, { env: { COMPLIANCE_POLICY: "fips-140-3" } }],
  [/ENABLE_LEGACY_FSGROUP_INJECTION", "false"\)$/, { env: { ENABLE_LEGACY_FSGROUP_INJECTION: "false" } }],
  [/EnableLegacyFSGroupInjection(?: = |, )false\)?$/, { env: { ENABLE_LEGACY_FSGROUP_INJECTION: "false" } }],
  [/RewriteTCPProbes(?: = |, )false\)?$/, { env: { REWRITE_TCP_PROBES: "false" } }],
];

function readSetup(statements: readonly string[], unread: string[]): Setup {
  return statements.reduce<Setup>((setup, statement) => {
    const known = SETUPS.find(([pattern]) => pattern.test(statement))?.[1];
    if (known === undefined) unread.push(statement);
    return { ...setup, ...known };
  }, {});
}
