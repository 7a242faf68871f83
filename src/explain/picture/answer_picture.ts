/** Draws one connection: its stations as boxes, in order. */
import type { Answer, Station } from "../answer_schema.ts";
import { type Asked, titleOf } from "./asked.ts";
import type { Box, Note, Picture, Section } from "./picture.ts";
import { type Look, terminalText } from "./terminal.ts";

const VERDICTS: Readonly<Record<Answer["verdict"], { readonly mark: Note["mark"]; readonly text: string }>> = {
  reaches: { mark: "ok", text: "reaches" },
  refused: { mark: "error", text: "refused" },
  bypasses: { mark: "warning", text: "bypasses the proxy" },
  unknown: { mark: "unknown", text: "cannot tell" },
};

/** How to show a connection on a terminal. */
interface Shown {
  readonly asked: Asked;
  readonly look: Look;
  /** Whether to show all stations with all their values. */
  readonly isWide: boolean;
}

/** Returns the text of an answer. If the terminal has too few rows, joins neighboring stations that have no problem. */
export function answerText(answer: Answer, { asked, look, isWide }: Shown): string {
  const full = terminalText(answerPicture(answer, asked, isWide), look);
  if (isWide || look.rows === undefined || full.split("\n").length <= look.rows) return full;
  return `${terminalText(withoutWell(answerPicture(answer, asked), answer.stations), look)}${ALL_STATIONS}`;
}

const ALL_STATIONS = "-o wide shows all stations\n";

/** Joins neighboring stations of one pod into one box, such as `3-6`, if none of them has a problem. */
function withoutWell(picture: Picture, stations: Answer["stations"]): Picture {
  const boxes: Box[] = [];
  let first = 0;
  for (const [at, box] of picture.boxes.entries()) {
    const [own, next] = [stations[at], stations[at + 1]];
    if (own?.result === "ok" && next?.result === "ok" && next.side === own.side && next.pod === own.pod) continue;
    const joined = stations.slice(first, at + 1);
    boxes.push(joined.length === 1 ? box : wellBox(joined, first));
    first = at + 1;
  }
  return { ...picture, boxes };
}

function wellBox(joined: Answer["stations"], first: number): Box {
  const kinds = joined.map(({ kind }) => kind).join(", ");
  return { title: `${first + 1}-${first + joined.length}`, mark: "ok", lines: [`${kinds}: ok`] };
}

/** Returns boxes for the stations, and the verdict below. `isWide` adds all values of the stations. */
export function answerPicture(answer: Answer, asked: Asked, isWide = false): Picture {
  const { pod, direction, verdict, reason, fix, stations } = answer;
  const { mark, text } = VERDICTS[verdict];
  // The boxes already show the details.
  const isPlain = verdict === "reaches" && stations.every(({ result }) => result === "ok");
  return {
    title: titleOf(pod, asked),
    subtitle: `${direction}: ${text}`,
    boxesTitle: stations.some(({ side }) => side !== stations[0]?.side) ? "Stations in both pods" : "Stations",
    boxesIn: "column",
    boxes: stations.map((station, at) => stationBox(station, at, isWide)),
    sections: [clusters(answer), endpoints(answer)],
    notes: [
      { mark, text: isPlain ? text : `${text}: ${reason}${decidedText(answer)}`, fix },
      ...probeNotes(answer),
      ...flagNotes(answer),
    ],
  };
}

function decidedText({ decided }: Answer): string {
  if (decided === undefined) return "";
  const { kind, namespace, name, field } = decided;
  const what = name === "" ? `a ${kind} of unknown name` : `${kind} ${namespace}/${name}`;
  return `; decided by ${what}, ${field}`;
}

function flagNotes({ flags = [] }: Answer): Note[] {
  return flags.map((flag) => ({ mark: "warning", text: flagText(flag), fix: `check ${flag.next}` }));
}

/** Returns the meaning of a response flag, and the stations that can set it. */
export function flagText({ flag, meaning, stations }: NonNullable<Answer["flags"]>[number]): string {
  const where = stations.length === 0
    ? "none of these stations can set it"
    : `station ${stations.join(", ")} can set it`;
  return `${flag}: ${meaning}; ${where}`;
}

/** Returns notes on the request that `--probe` sent, and on the stations that the request did not prove. */
function probeNotes({ probe }: Answer): Note[] {
  if (probe === undefined) return [];
  const { request, isSent, result, unproved } = probe;
  const [first, ...why] = unproved;
  const open = first === undefined ? "" : why.length === 0 ? first : `${first}: ${why.join("; ")}`;
  return [
    { mark: isSent ? "ok" : "unknown", text: `probe: ${request}: ${result}`, fix: "" },
    ...open === "" ? [] : [{ mark: "unknown" as const, text: `probe: ${open}`, fix: "" }],
  ];
}

function stationBox({ kind, name, source, result, message, detail }: Station, at: number, isWide: boolean): Box {
  const mark = source === "unknown" && result === "ok" ? undefined : result;
  // Most messages contain the name.
  const title = message.includes(name) ? "" : name;
  return {
    title: `${at + 1} ${kind}`,
    mark,
    lines: [title, source === "unknown" ? message : `${message} (${source})`, ...isWide ? detailLines(detail) : []],
  };
}

function detailLines(detail: Station["detail"]): string[] {
  return Object.entries(detail).map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(", ") : value}`);
}

function clusters({ clusters }: Answer): Section {
  const rows = clusters.length < 2 ? [] : clusters.map(({ name, weight }) => ({
    kind: "fact" as const,
    mark: undefined,
    label: `${weight}%`,
    text: name,
  }));
  return { title: "Clusters by weight", column: "left", rows };
}

/** Maximum number of endpoints to show. A cluster can have thousands. */
const MOST = 20;

/** Lists the endpoints. A single endpoint needs no row: its box shows it. */
function endpoints({ clusters, endpoints }: Answer): Section {
  const rows = endpoints.length < 2 ? [] : endpoints.slice(0, MOST).map(({ address, health }) => ({
    kind: "fact" as const,
    mark: health === "healthy" ? "ok" as const : "warning" as const,
    label: address,
    text: health,
  }));
  const more = rows.length === 0 ? 0 : endpoints.length - rows.length;
  const rest = more === 0 ? [] : [{ kind: "fact" as const, mark: undefined, label: "...", text: `${more} more` }];
  return {
    title: "Endpoints that can be chosen",
    column: clusters.length < 2 ? "left" : "right",
    rows: [...rows, ...rest],
  };
}
