import { REDACTED } from "./redacted.ts";

/**
 * Returns a URL for messages and reports, without user, password, query and fragment, because each part may contain a
 * credential.
 */
export function shownUrl(text: string): string {
  const url = URL.parse(text);
  // In "user:password@host", the parser takes the user as the scheme.
  if (url === null || url.host === "") {
    return text.replace(/^([a-z]+:\/\/)?[^/?#]*@/i, "$1").replace(/[?#].*$/s, "");
  }
  const { search } = url;
  if (url.username === "" && url.password === "" && search === "" && url.hash === "") return text;
  url.username =
    url.password =
    url.search =
    url.hash =
      "";
  return search === "" ? url.href : `${url.href}?${REDACTED}`;
}

/** Returns a text, such as an error of the runtime, with each URL in it as `shownUrl` returns it. */
export function withShownUrls(text: string): string {
  return text.replaceAll(/\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'()]+/gi, (found) => shownUrl(found));
}
