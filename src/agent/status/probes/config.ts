/** Reads the application probes, which the agent serves, from the injector's variable ISTIO_KUBE_APP_PROBERS. */
import { parseJson } from "../../../base/json.ts";
import { isMap, type ValueMap } from "../../../base/value.ts";
import { fieldOf, textField } from "../../json_fields.ts";

export type Prober =
  | {
    readonly kind: "http";
    readonly port: number;
    readonly path: string;
    readonly isTls: boolean;
    readonly timeoutSeconds: number;
  }
  | { readonly kind: "tcp"; readonly port: number; readonly timeoutSeconds: number }
  | { readonly kind: "grpc"; readonly port: number; readonly service: string; readonly timeoutSeconds: number };

/** Probes by the agent's path. */
export type Probers = ReadonlyMap<string, Prober>;

const FORM = "/app-health/CONTAINER/PROBE or /app-lifecycle/CONTAINER/PROBE, where PROBE is livez, readyz, startupz, " +
  "prestopz or poststartz";
const PATH = /^\/(app-health|app-lifecycle)\/[^/]+\/(livez|readyz|startupz|prestopz|poststartz)$/;

/** Parses the probes. An empty text contains no probes. */
export function readProbers(text: string): { readonly probers: Probers; readonly problems: readonly string[] } {
  if (text === "") return { probers: new Map(), problems: [] };
  const json = parseJson(text);
  if (!isMap(json)) return { probers: new Map(), problems: [`not a JSON object but "${text.slice(0, 100)}"`] };
  const problems: string[] = [];
  const probers = Object.entries(json).map(([path, value]): [string, Prober] | undefined => {
    const found: string[] = [];
    const prober = readProber(path, isMap(value) ? value : {}, found);
    problems.push(...found.map((problem) => `"${path}": ${problem}`));
    return prober === undefined || found.length > 0 ? undefined : [path, prober];
  });
  return { probers: new Map(probers.filter((each) => each !== undefined)), problems };
}

type DetailsOf = Readonly<{ [Kind in Prober["kind"]]: Omit<Extract<Prober, { kind: Kind }>, "timeoutSeconds"> }>;
export type ProberDetails = DetailsOf[Prober["kind"]];

const KINDS: { readonly [Field: string]: (fields: ValueMap, problems: string[]) => ProberDetails } = {
  httpGet: (fields, problems) => ({
    kind: "http",
    port: portOf(fields, problems),
    path: textField(fields, "path", problems).replace(/^(?!\/)/, "/"),
    isTls: textField(fields, "scheme", problems) === "HTTPS",
  }),
  tcpSocket: (fields, problems) => ({ kind: "tcp", port: portOf(fields, problems) }),
  grpc: (fields, problems) => ({
    kind: "grpc",
    port: portOf(fields, problems),
    service: textField(fields, "service", problems),
  }),
};

function readProber(path: string, value: ValueMap, problems: string[]): Prober | undefined {
  if (!PATH.test(path)) problems.push(`the path must have the form ${FORM}`);
  const found = Object.entries(KINDS).flatMap(([name, read]) => {
    const fields = fieldOf(value, name);
    return fields === undefined ? [] : [{ name, read, fields }];
  });
  const [only] = found;
  if (only === undefined || found.length > 1) {
    problems.push(`there must be exactly one of httpGet, tcpSocket and grpc, not ${found.length}`);
    return undefined;
  }
  if (!isMap(only.fields)) problems.push(`"${only.name}" is not an object`);
  const details = only.read(isMap(only.fields) ? only.fields : {}, problems);
  return { ...details, timeoutSeconds: secondsOf(value, problems) };
}

/** Returns the port of a probe. The injector has already replaced port names with numbers. */
function portOf(fields: ValueMap, problems: string[]): number {
  const port = fieldOf(fields, "port");
  if (typeof port === "number" && Number.isInteger(port) && port >= 1 && port <= 65535) return port;
  problems.push(`the port ${JSON.stringify(port) ?? "(absent)"} is not a number from 1 to 65535`);
  return 0;
}

function secondsOf(value: ValueMap, problems: string[]): number {
  const seconds = fieldOf(value, "timeoutSeconds") ?? 0;
  if (typeof seconds === "number" && Number.isInteger(seconds)) return Math.max(0, seconds);
  problems.push('"timeoutSeconds" is not an integer');
  return 0;
}
