/** A picture as data: boxes, lanes and facts. Printers arrange them. */
import type { Result } from "../summary/pod_summary_schema.ts";

export interface Box {
  readonly title: string;
  /** `undefined`: nothing to judge. */
  readonly mark: Result | undefined;
  readonly lines: readonly string[];
}

/** An arrow from a source to a destination, through the proxy or bypassing it. */
export interface LaneRow {
  readonly kind: "lane";
  readonly mark: Result | undefined;
  readonly from: string;
  /** What it passes through; empty for a bypass. */
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
  /** Wide pictures have two columns. */
  readonly column: "left" | "right";
  readonly rows: readonly (LaneRow | FactRow)[];
}

export interface Note {
  readonly mark: Result;
  readonly text: string;
  /** What to do; empty if unknown. */
  readonly fix: string;
}

/** The whole picture. Each text is one line; texts are untrusted. */
export interface Picture {
  readonly title: string;
  readonly subtitle: string;
  /** Title of the boxes. Arrows connect them in order. */
  readonly boxesTitle: string;
  /** Side by side, or stacked at full width. */
  readonly boxesIn: "row" | "column";
  readonly boxes: readonly Box[];
  readonly sections: readonly Section[];
  readonly notes: readonly Note[];
}
