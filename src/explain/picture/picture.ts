/** A picture as data: boxes, lanes and facts. Printers arrange these parts. */
import type { Result } from "../summary/pod_summary_schema.ts";

/** The marks of results, the same as in `check`. Most fonts have these characters (linkerd2 #2114). */
export const MARKS: Readonly<Record<Result, string>> = { ok: "√", warning: "‼", error: "×", unknown: "?" };

export interface Box {
  readonly title: string;
  /** Result to mark; `undefined` for information without a result. */
  readonly mark: Result | undefined;
  readonly lines: readonly string[];
}

/** An arrow from a source to a destination, through the proxy or past it. */
export interface LaneRow {
  readonly kind: "lane";
  readonly mark: Result | undefined;
  readonly from: string;
  /** The proxy or agent on the path; empty for a bypass. */
  readonly via: string;
  readonly to: string;
  readonly note: string;
}

/** A label and its value. */
export interface FactRow {
  readonly kind: "fact";
  readonly mark: Result | undefined;
  readonly label: string;
  readonly text: string;
}

export interface Section {
  readonly title: string;
  /** Column in wide pictures, which have two columns. */
  readonly column: "left" | "right";
  readonly rows: readonly (LaneRow | FactRow)[];
}

export interface Note {
  readonly mark: Result;
  readonly text: string;
  /** Change to make; empty if unknown. */
  readonly fix: string;
}

/** A complete picture. Each text is one line and untrusted. */
export interface Picture {
  readonly title: string;
  readonly subtitle: string;
  /** Title of the boxes. Arrows connect them in order. */
  readonly boxesTitle: string;
  /** Layout of the boxes: `row` is side by side, `column` is stacked at full width. */
  readonly boxesIn: "row" | "column";
  readonly boxes: readonly Box[];
  readonly sections: readonly Section[];
  readonly notes: readonly Note[];
}
