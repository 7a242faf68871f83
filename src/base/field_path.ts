/**
 * Formats a field for messages: `spec.containers[0].image`. Keys that are not names are in brackets: `labels["a.b/c"]`.
 */
export function fieldText(path: readonly (string | number)[]): string {
  return path.map((step, index) => {
    if (typeof step === "number") return `[${step}]`;
    if (!/^[A-Za-z_][\w-]*$/.test(step)) return `[${JSON.stringify(step)}]`;
    return index === 0 ? step : `.${step}`;
  }).join("");
}

/** Splits a text that `fieldText` returned into its keys and indexes. */
export function fieldKeys(text: string): (string | number)[] {
  return [...text.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(([, index, quoted, plain]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? plain ?? "" : String(JSON.parse(quoted));
  });
}
