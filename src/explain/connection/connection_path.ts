/** Collects the stations of one connection in order, and decides its verdict. */
import type { Answer, Detail, PlainStation, StationKind } from "../answer_schema.ts";
import type { Cause } from "../resources/cause.ts";
import type { OpenAnswer } from "../resources/decided.ts";

export interface End {
  readonly verdict: Answer["verdict"];
  /** One sentence: why the verdict holds. */
  readonly reason: string;
  /** The field to change, and how; empty if unknown. */
  readonly fix: string;
  /** The resource that decided. */
  readonly cause?: Cause | undefined;
}

/** A station and its effect on the connection. If `end` is set, the connection ends at this station. */
export interface Step {
  readonly station: PlainStation;
  readonly end?: End | undefined;
  /** The change to suggest if the station is unknown or a warning. */
  readonly fix?: string;
  /** The resource behind a station that is unknown or a warning. */
  readonly cause?: Cause | undefined;
}

type Parts = Partial<Omit<PlainStation, "kind">>;

/** Returns a station of this kind; `parts` override the defaults. */
function stationOf(kind: StationKind, parts: Parts): PlainStation {
  return { kind, name: "", source: "seen", result: "ok", message: "", detail: {}, ...parts };
}

/** Returns a step after which the connection continues. */
export function passing(kind: StationKind, parts: Parts): Step {
  return { station: stationOf(kind, parts) };
}

/** Returns a step at which the connection is refused. */
export function refusing(kind: StationKind, parts: Parts, fix: string, cause?: Cause): Step {
  return ending(kind, { result: "error", ...parts }, { verdict: "refused", fix, cause });
}

/** Returns a step with an unknown result, after which the connection continues. */
export function unsure(kind: StationKind, parts: Parts, cause?: Cause): Step {
  return { ...passing(kind, { source: "unknown", result: "unknown", ...parts }), cause };
}

/** Returns a step with an unknown result, after which the path is unknown too. */
export function unknowing(kind: StationKind, parts: Parts, fix = ""): Step {
  return ending(kind, { source: "unknown", result: "unknown", ...parts }, { verdict: "unknown", fix });
}

/** Returns a step at which the connection ends. Its message is the reason. */
export function ending(kind: StationKind, parts: Parts, { verdict, fix, cause }: Omit<End, "reason">): Step {
  const station = stationOf(kind, parts);
  return { station, end: { verdict, reason: sentence(station.message), fix, cause } };
}

/** Returns the details without `undefined`, empty strings and empty lists. */
export function detailOf(values: Readonly<Record<string, Detail[string] | undefined>>): Detail {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined || value === "" || Array.isArray(value) && value.length === 0 ? [] : [[name, value]]
    ),
  );
}

/** Joins the clauses that are not empty. */
export function clauses(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("; ");
}

/** Maximum number of names that a message lists. */
export const MAX_SHOWN = 5;

/** Returns a list for a message, such as `A, B and 3 more`. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_SHOWN).join(", ");
  return names.length > MAX_SHOWN ? `${shown} and ${names.length - MAX_SHOWN} more` : shown;
}

/** Turns a clause into a sentence: capitalizes the first word, unless it is the name of a file, cluster or rule. */
export function sentence(text: string): string {
  return /^[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** Returns the `kubectl edit` command for a resource such as `VirtualService shop/reviews`; empty for other texts. */
export function editing(resource: string): string {
  const [, kind = "", namespace, name] = /^([A-Z]\w+) ([\w.-]+)\/([\w.-]+)$/.exec(resource) ?? [];
  return name === undefined ? "" : `: kubectl edit -n ${namespace} ${kind.toLowerCase()}/${name}`;
}

type Cluster = Answer["clusters"][number];
type Endpoint = Answer["endpoints"][number];

/** Stations that decide where a connection goes. Other stations only accept or refuse it. */
const DIVERTING: readonly StationKind[] = ["dns", "kernel", "listener", "filter-chain", "route"];

interface Doubt extends Omit<End, "verdict"> {
  readonly isDiverting: boolean;
}

/** Collects stations, clusters, endpoints and problems, and returns the answer. */
export class ConnectionPath {
  readonly #stations: PlainStation[] = [];
  readonly #clusters: Cluster[] = [];
  readonly #endpoints = new Map<string, Endpoint>();
  #end: End | undefined;
  #doubt: Doubt | undefined;
  /** A problem that does not change the verdict. */
  #concern: Omit<End, "verdict"> | undefined;

  constructor(private readonly pod: string, private readonly direction: Answer["direction"]) {}

  /** Adds a station; `false` if the connection ends there. */
  add({ station, end, fix, cause }: Step): boolean {
    this.#stations.push(station);
    if (station.result === "unknown") this.doubt(station, fix, cause);
    if (end === undefined) {
      if (station.result === "warning") this.concern({ reason: sentence(station.message), fix: fix ?? "", cause });
      return true;
    }
    this.end(end);
    return false;
  }

  /** Adds a station that does not affect the verdict. */
  show(station: PlainStation): void {
    this.#stations.push(station);
  }

  /** Adds a station but does not end the connection there. */
  note({ station, fix, cause }: Step): void {
    this.#stations.push(station);
    if (station.result === "unknown") this.doubt(station, fix, cause);
  }

  /** Records an unknown station, which makes the verdict unknown. Only the first call has an effect. */
  doubt({ kind, message }: PlainStation, fix = "", cause?: Cause): void {
    this.#doubt ??= { reason: sentence(message), fix, cause, isDiverting: DIVERTING.includes(kind) };
  }

  cluster(name: string, weight: number): void {
    this.#clusters.push({ name, weight });
  }

  endpoints(endpoints: readonly Endpoint[]): void {
    for (const each of endpoints) this.#endpoints.set(each.address, each);
  }

  endpointList(): readonly Endpoint[] {
    return [...this.#endpoints.values()];
  }

  /** Records where the connection ends. The first known verdict counts. `unknown` replaces any earlier doubt. */
  end(end: End): void {
    if (end.verdict === "unknown") this.#doubt = { ...end, isDiverting: this.#doubt?.isDiverting === true };
    else this.#end ??= end;
  }

  concern(concern: Omit<End, "verdict">): void {
    this.#concern ??= concern;
  }

  /** Returns the answer. If neither an end nor a doubt was recorded, the verdict is `reaches`. */
  answer(): OpenAnswer {
    const endpoints = this.endpointList();
    const side = this.direction === "outbound" ? "client" : "server";
    return {
      pod: this.pod,
      direction: this.direction,
      ...this.#decided(endpoints),
      stations: this.#stations.map((station) => ({ ...station, pod: this.pod, side })),
      clusters: this.#clusters,
      endpoints,
    };
  }

  /** Returns the verdict. A refusal outweighs a doubt, unless the doubt concerns the destination of the connection. */
  #decided(endpoints: readonly Endpoint[]): End {
    const end = this.#end;
    const doubt = this.#doubt;
    if (doubt === undefined) return end ?? this.#reached(endpoints);
    if (end?.verdict === "refused" && !doubt.isDiverting) return end;
    const { reason, fix, cause } = doubt;
    const known = reason.endsWith("?") ? " As far as is known" : "; as far as is known";
    const otherwise = end === undefined ? "" : `${known}: ${lowered(end.reason)}`;
    return {
      verdict: "unknown",
      reason: `${reason}${otherwise}`,
      fix: fix === "" ? end?.fix ?? "" : fix,
      cause: cause ?? end?.cause,
    };
  }

  #reached(endpoints: readonly Endpoint[]): End {
    const clusters = this.#clusters.map(({ name, weight }) => weight === 100 ? name : `${name} (${weight}%)`);
    const [only, ...others] = endpoints.map(({ address }) => address);
    const to = only === undefined ? [] : [others.length === 0 ? only : `${endpoints.length} endpoints`];
    const tls = this.#stations.find(({ kind }) => kind === "tls")?.message ?? "";
    const reason = `It goes to ${[...clusters, ...to].join(", ")}${tls === "" ? "" : `: ${tls}`}`;
    const { reason: concern = "", fix = "", cause } = this.#concern ?? {};
    return { verdict: "reaches", reason: concern === "" ? reason : `${reason}; but ${lowered(concern)}`, fix, cause };
  }
}

/** Turns a sentence into a clause: lowercases the first letter, except in names such as `RBAC`. */
export function lowered(text: string): string {
  return /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
