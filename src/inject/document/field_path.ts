/**
 * The keys and indexes of a field path as messages have it: `spec.containers[0].env` and `metadata.labels["a.b/c"]`.
 */
export function fieldKeys(text: string): (string | number)[] {
  return [...text.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(([, index, quoted, plain]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? plain ?? "" : String(JSON.parse(quoted));
  });
}
