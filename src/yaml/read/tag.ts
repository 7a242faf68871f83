import type { DocumentEvent } from "js-yaml";

const DEFAULT_HANDLES: Readonly<Record<string, string>> = { "!": "!", "!!": "tag:yaml.org,2002:" };

/** Expands a tag (`!!int`, `!<tag:…>`, `!e!x`) to its long form, with the handles of `%TAG` lines. */
export function longTag(raw: string, directives: DocumentEvent["directives"]): string {
  if (raw.startsWith("!<")) return raw.slice(2, -1);
  const end = raw.indexOf("!", 1) + 1;
  const handle = raw.slice(0, end === 0 ? 1 : end);
  const declared = directives.find((directive) => directive.kind === "tag" && directive.handle === handle);
  const prefix = declared?.kind === "tag" ? declared.prefix : DEFAULT_HANDLES[handle] ?? handle;
  return prefix + unescape(raw.slice(handle.length));
}

function unescape(suffix: string): string {
  try {
    return decodeURIComponent(suffix);
  } catch {
    // URIError: the suffix is not valid percent-encoding.
    return suffix;
  }
}
