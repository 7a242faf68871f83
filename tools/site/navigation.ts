/** Which pages the site has, in the order in which a reader needs them. */

/** Pages under one title. */
export interface Part {
  readonly title: string;
  /** Paths from the checkout. */
  readonly pages: readonly string[];
}

/** All pages but the records of decisions, which their own page lists. */
export const PARTS: readonly Part[] = [
  {
    title: "Start",
    pages: [
      "README.md",
      "docs/install.md",
      "docs/start.md",
      "docs/ci.md",
      "docs/troubleshooting.md",
      "docs/upgrade.md",
    ],
  },
  {
    title: "Your machine and CI",
    pages: [
      "docs/inject.md",
      "docs/config.md",
      "docs/check.md",
      "docs/checks.md",
      "docs/explain.md",
      "docs/completion.md",
    ],
  },
  {
    title: "The cluster and its pods",
    pages: ["docs/webhook.md", "docs/iptables.md", "docs/cni.md", "docs/agent.md", "docs/wait.md", "docs/images.md"],
  },
  {
    title: "Reference",
    pages: ["docs/commands.md", "docs/names.md", "docs/versions.md", "docs/security.md", "SECURITY.md", "CHANGELOG.md"],
  },
  {
    title: "Facts",
    pages: ["docs/compared.md", "docs/reliability.md", "docs/performance.md"],
  },
  {
    title: "The project",
    pages: ["docs/development.md", "docs/architecture.md", "docs/decisions/README.md", "CONTRIBUTING.md"],
  },
];

/** All pages of the navigation, in order. */
export const LISTED: readonly string[] = PARTS.flatMap(({ pages }) => pages);
