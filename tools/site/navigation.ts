/** The pages of the site in reading order: first for users, then for developers of the program. */

/** A page: its path in the checkout, its title in the navigation, and the pages below it. */
export interface Entry {
  readonly path: string;
  readonly name: string;
  readonly below?: readonly Entry[];
}

/** A group of pages under one title. */
export interface Part {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The first page of the site. */
export const FIRST: Entry = { path: "README.md", name: "kubectl-mesh" };

const docs = (name: string, title: string): Entry => ({ path: `docs/${name}.md`, name: title });
const decisions = (name: string, title: string): Entry => docs(`decisions/${name}`, title);

/** All other pages. */
export const PARTS: readonly Part[] = [
  {
    title: "Begin",
    entries: [docs("start", "Five minutes with a cluster"), docs("install", "Install")],
  },
  {
    title: "Your first hour",
    entries: [
      docs("platform-engineer", "Platform engineer"),
      docs("application-developer", "Application developer"),
      docs("gitops-author", "GitOps author"),
      docs("on-call", "On call"),
      docs("security-reviewer", "Security reviewer"),
    ],
  },
  {
    title: "Tasks",
    entries: [
      docs("ci", "CI and GitOps"),
      docs("troubleshooting", "Troubleshooting"),
      docs("upgrade", "Upgrade and uninstall"),
      docs("completion", "Completion in shells"),
    ],
  },
  {
    title: "On your machine",
    entries: [
      docs("inject", "inject, uninject, kustomize"),
      docs("config", "Sources of the configuration"),
      docs("check", "check"),
      docs("checks", "All checks"),
      docs("explain", "explain and snapshot"),
    ],
  },
  {
    title: "In the cluster and its pods",
    entries: [
      docs("webhook", "Webhook"),
      docs("iptables", "Traffic capture"),
      docs("cni", "CNI plugin"),
      docs("agent", "Agent"),
      docs("wait", "wait"),
      docs("images", "Container images"),
    ],
  },
  {
    title: "Reference",
    entries: [
      docs("commands", "Commands and flags"),
      docs("names", "Drop-in names"),
      docs("schemas", "JSON Schemas"),
      docs("versions", "Supported versions"),
      docs("compared", "Compared with other tools"),
      docs("security", "Security"),
      { path: "SECURITY.md", name: "Report a vulnerability" },
      docs("reliability", "Faults that were tested"),
      docs("performance", "Performance"),
      { path: "CHANGELOG.md", name: "Changelog" },
    ],
  },
  {
    title: "For contributors",
    entries: [
      { path: "CONTRIBUTING.md", name: "Contributing" },
      docs("development", "Development"),
      docs("architecture", "Architecture"),
      {
        ...docs("decisions/README", "Decisions"),
        below: [
          decisions("inject", "inject"),
          decisions("check", "check"),
          decisions("explain", "explain and snapshot"),
          decisions("webhook", "Webhook"),
          decisions("iptables", "Traffic capture"),
          decisions("cni", "CNI plugin"),
          decisions("agent", "Agent and wait"),
          decisions("cli", "Command lines"),
          decisions("kube", "Kubernetes client"),
          decisions("libraries", "Libraries"),
          decisions("world", "Network and processes"),
          decisions("build", "Build"),
          decisions("tests", "Tests"),
        ],
      },
    ],
  },
];

/** The paths of all pages in the navigation, in order. */
export const LISTED: readonly string[] = [FIRST, ...PARTS.flatMap(({ entries }) => entries)].flatMap(
  ({ path, below = [] }) => [path, ...below.map(({ path }) => path)],
);

/** Returns the navigation in mdBook's format. `inBook` maps the path of a page to its path in the book. */
export function summary(inBook: (path: string) => string): string {
  const item = ({ name, path }: Entry) => `[${name}](${inBook(path)})`;
  const lines = PARTS.flatMap(({ title, entries }) => [
    `# ${title}`,
    "",
    ...entries.flatMap((entry) => [`- ${item(entry)}`, ...(entry.below ?? []).map((each) => `  - ${item(each)}`)]),
    "",
  ]);
  return ["# Summary", "", item(FIRST), "", ...lines].join("\n");
}
