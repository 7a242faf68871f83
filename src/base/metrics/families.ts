/** Metrics of this process in Prometheus' text format (prometheus.io/docs/instrumenting/exposition_formats). */

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** Suffix after the name of the family: histograms have `_bucket`, `_sum` and `_count`. */
  readonly suffix?: string;
  readonly labels?: Labels;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

/** Returns metrics; called at each scrape. */
export type Collector = () => readonly Family[] | Promise<readonly Family[]>;

/** A counter or gauge with a value for each set of labels. */
export interface Meter {
  /** Increases the value, by 1 unless given. */
  add(labels?: Labels, by?: number): void;
  set(value: number): void;
  readonly collect: () => readonly Family[];
}

/** Creates a meter. As in Istio, a meter has no samples before its first use. */
export function meter(type: Family["type"], name: string, help: string): Meter {
  const samples = new Map<string, { readonly labels?: Labels; value: number }>();
  return {
    add(labels, by = 1) {
      const key = labels === undefined ? "" : labelText(labels);
      const sample = samples.get(key);
      if (sample !== undefined) sample.value += by;
      else samples.set(key, { ...labels === undefined ? {} : { labels }, value: by });
    },
    set: (value) => void samples.set("", { value }),
    collect: () => [{ name, help, type, samples: [...samples.values()] }],
  };
}

/** Returns the text of all families, sorted by name. Each name gets the prefix. Families without samples are left out. */
export async function expositionOf(collectors: readonly Collector[], prefix = ""): Promise<string> {
  const families = await Promise.all(collectors.map((collect) => collect()));
  const used = families.flat().filter(({ samples }) => samples.length > 0);
  return used.sort((a, b) => a.name < b.name ? -1 : 1).map((family) => familyText(family, prefix)).join("");
}

function familyText({ name, help, type, samples }: Family, prefix: string): string {
  const full = `${prefix}${name}`;
  const lines = samples.map(({ suffix = "", labels = {}, value }) =>
    `${full}${suffix}${labelText(labels)} ${numberText(value)}\n`
  );
  if (type !== "histogram") lines.sort();
  const escaped = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return `# HELP ${full} ${escaped}\n# TYPE ${full} ${type}\n${lines.join("")}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeValue(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
