const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,]\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Formats a metav1.Time as Kubernetes does, in whole seconds and UTC: `2026-01-02T03:04:05Z`. Returns `undefined` if
 * the text is not an RFC 3339 time.
 */
export function canonicalTime(text: string): string | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, zone = "Z"] = match;
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const millis = Date.parse(local);
  // JavaScript accepts the 31st of a short month, and hour 24, as the next day. Go rejects both.
  if (Number.isNaN(millis) || secondsText(millis) !== local) return undefined;
  return zone === "Z" ? local : secondsText(millis - offsetMinutes(zone) * 60_000);
}

/** Returns the seconds since 1970 of a canonical time. */
export function unixSeconds(canonical: string): bigint {
  return BigInt(Date.parse(canonical) / 1000);
}

function secondsText(millis: number): string {
  return new Date(millis).toISOString().replace(".000Z", "Z");
}

function offsetMinutes(zone: string): number {
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return zone.startsWith("-") ? -minutes : minutes;
}
