/** The last patch of each minor release of Istio whose own tests are replayed; of 1.31 the release candidate. */
export const RELEASES: readonly string[] = [
  "1.9.9",
  "1.10.6",
  "1.11.8",
  "1.12.9",
  "1.13.9",
  "1.14.6",
  "1.15.7",
  "1.16.7",
  "1.17.8",
  "1.18.7",
  "1.19.10",
  "1.20.8",
  "1.21.6",
  "1.22.8",
  "1.23.6",
  "1.24.6",
  "1.25.5",
  "1.26.8",
  "1.27.9",
  "1.28.10",
  "1.29.6",
  "1.30.3",
  "1.31.0-rc.0",
];

/** The last minor version whose listeners only Istio's own Envoy accepts. */
export const LAST_WITH_OWN_ENVOY = 19;

/** The minor version: 28 for `1.28.10`. */
export function minorOf(release: string): number {
  return Number(release.split(".")[1]);
}
