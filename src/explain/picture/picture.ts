/** A picture as data: boxes, lanes and facts. Printers arrange them. */
import type { Result } from "../summary/pod_summary_schema.ts";

export interface Box {
  readonly title: string;
  /** `undefined`: nothing to judge. */
  readonly mark: Result | undefined;
  readonly lines: readonly string[];
}

/** An arrow between two places, through the proxy or past it. */
export interface LaneRow {
  readonly kind: "lane";
  readonly mark: Result | undefined;
  readonly from: string;
  /** What it passes; empty for a bypass. */
  readonly via: string;
  readonly to: string;
  readonly note: string;
}

/** A fact: what, and its value. */
export interface FactRow {
  readonly kind: "fact";
  readonly mark: Result | undefined;
  readonly label: string;
  readonly text: string;
}

export interface Section {
  readonly title: string;
  /** Wide pictures have two columns. */
  readonly column: "left" | "right";
  readonly rows: readonly (LaneRow | FactRow)[];
}

export interface Note {
  readonly mark: Result;
  readonly text: string;
  /** What to do; empty if nothing is known. */
  readonly fix: string;
}

/** The whole picture. All texts are on one line; they may come from anybody. */
export interface Picture {
  readonly title: string;
  readonly subtitle: string;
  /** The name of the row of boxes, which are in the order of arrows. */
  readonly boxesTitle: string;
  /** Beside each other, or below each other in the whole width. */
  readonly boxesIn: "row" | "column";
  readonly boxes: readonly Box[];
  readonly sections: readonly Section[];
  readonly notes: readonly Note[];
}
