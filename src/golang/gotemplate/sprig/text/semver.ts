/**
 * sprig's `semver` and `semverCompare`: versions that need not have all three numbers, and constraints with `=`, `!=`,
 * `<`, `>`, `~`, `^`, wildcards, hyphen ranges, spaces or commas for and, `||` for or (rules of Masterminds/semver v3).
 */
import { type FuncMap, GoInt, GoStruct, type GoValue, pure } from "../../../go_value.ts";
import { STRING, text } from "../args.ts";
import { Expression } from "./expression.ts";
import { replaceAll } from "./regexp.ts";

/** Returns the functions of this file by name. */
export function semverFunctions(): FuncMap {
  return {
    semver: pure([STRING], (version) => parseVersion(text(version))),
    semverCompare: pure([STRING, STRING], (constraint, version) => {
      const alternatives = parseConstraints(text(constraint));
      const subject = parseVersion(text(version));
      return alternatives.some((all) => all.every((one) => satisfies(subject, one)));
    }),
  };
}

type Numbers = readonly [bigint, bigint, bigint];

/** A version as templates see it: `(semver "1.2.3").Major`. */
export class Version extends GoStruct {
  override readonly goType = "*semver.Version";

  constructor(readonly numbers: Numbers, readonly pre: string, readonly metadata: string, readonly original: string) {
    super();
  }

  override get(name: string): GoValue | undefined {
    return VERSION_METHODS[name]?.(this);
  }

  override toJSONValue(): GoValue {
    return this.text();
  }

  override text(): string {
    return this.numbers.join(".") + (this.pre && `-${this.pre}`) + (this.metadata && `+${this.metadata}`);
  }
}

const VERSION_METHODS: Readonly<Record<string, (version: Version) => GoValue>> = {
  Major: (v) => new GoInt(v.numbers[0], "uint64"),
  Minor: (v) => new GoInt(v.numbers[1], "uint64"),
  Patch: (v) => new GoInt(v.numbers[2], "uint64"),
  Prerelease: (v) => v.pre,
  Metadata: (v) => v.metadata,
  Original: (v) => v.original,
  String: (v) => v.text(),
  Compare: (v) => withOther((other) => BigInt(Math.sign(compareVersions(v, other)))),
  Equal: (v) => withOther((other) => compareVersions(v, other) === 0),
  LessThan: (v) => withOther((other) => compareVersions(v, other) < 0),
  LessThanEqual: (v) => withOther((other) => compareVersions(v, other) <= 0),
  GreaterThan: (v) => withOther((other) => compareVersions(v, other) > 0),
  GreaterThanEqual: (v) => withOther((other) => compareVersions(v, other) >= 0),
  IncMajor: ({ numbers, original }) => released([numbers[0] + 1n, 0n, 0n], original),
  IncMinor: ({ numbers, original }) => released([numbers[0], numbers[1] + 1n, 0n], original),
  IncPatch: ({ numbers: [major, minor, patch], pre, original }) =>
    released([major, minor, pre === "" ? patch + 1n : patch], original),
};

function withOther(body: (other: Version) => GoValue) {
  return pure(["*semver.Version"], (other) => {
    if (other instanceof Version) return body(other);
    throw new Error("wrong type for value; expected *semver.Version");
  });
}

function released(numbers: Numbers, original: string): Version {
  return new Version(numbers, "", "", (original.startsWith("v") ? "v" : "") + numbers.join("."));
}

const IDENTIFIERS = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";
const SUFFIX = `(?:-(${IDENTIFIERS}))?(?:\\+(${IDENTIFIERS}))?`;
const VERSION = new RegExp(`^v?(\\d+)(?:\\.(\\d+))?(?:\\.(\\d+))?${SUFFIX}$`);

/** Parses a version of one to three numbers. Throws an Error with the text of the Go library. */
export function parseVersion(source: string): Version {
  const [match, major = "", minor = "0", patch = "0", pre = "", metadata = ""] = VERSION.exec(source) ?? [];
  if (match === undefined) throw new Error("Invalid Semantic Version");
  const numbers: Numbers = [segment(major), segment(minor), segment(patch)];
  if (pre.split(".").some((part) => /^0\d+$/.test(part))) throw new Error("Version segment starts with 0");
  return new Version(numbers, pre, metadata, source);
}

function segment(digits: string): bigint {
  const value = BigInt(digits);
  if (value < 1n << 64n) return value;
  throw new Error(`Error parsing version segment: strconv.ParseUint: parsing "${digits}": value out of range`);
}

/** Compares versions: negative, 0 or positive. Ignores metadata; a pre-release comes before its release. */
export function compareVersions(a: Version, b: Version): number {
  const order = compareFirst(a, b, 3);
  if (order !== 0 || a.pre === b.pre) return order;
  if (a.pre === "" || b.pre === "") return a.pre === "" ? 1 : -1;
  return comparePrereleases(a.pre, b.pre);
}

function comparePrereleases(a: string, b: string): number {
  const left = a.split(".");
  const right = b.split(".");
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const order = comparePart(left[i] ?? "", right[i] ?? "");
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares parts of a pre-release: a missing part comes first, then numbers, then letters. */
function comparePart(a: string, b: string): number {
  if (a === b) return 0;
  const [x, y] = [rankOf(a), rankOf(b)];
  if (x !== y) return x - y;
  const [left, right] = [numberOf(a) ?? a, numberOf(b) ?? b];
  return left > right ? 1 : -1;
}

function rankOf(part: string): number {
  if (part === "") return 0;
  return numberOf(part) === undefined ? 2 : 1;
}

function numberOf(part: string): bigint | undefined {
  if (!/^\d+$/.test(part)) return undefined;
  const value = BigInt(part);
  return value < 1n << 64n ? value : undefined;
}

interface Constraint {
  readonly operator: string;
  readonly version: Version;
  /** The index of the first wildcard: 1 for `1.x`, 3 if there is no wildcard. */
  readonly given: number;
}

/** The regular expressions of the Go library (constraints.go), compiled by RE2 so that matching takes linear time. */
function constraintExpressions() {
  const version = String.raw`v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?` +
    String.raw`(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?`;
  const operators = String.raw`=||!=|>|<|>=|=>|<=|=<|~|~>|\^`;
  const one = String.raw`(${operators})\s*(${version})`;
  return {
    one: new Expression(String.raw`^\s*${one}\s*$`),
    each: new Expression(one),
    all: new Expression(String.raw`^(\s*${one}\s*)((?:\s+|,\s*)${one}\s*)*$`),
    hyphen: new Expression(String.raw`\s*(${version})\s+-\s+(${version})\s*`),
  };
}

let expressions: ReturnType<typeof constraintExpressions> | undefined;

function parseConstraints(source: string): Constraint[][] {
  const { all, each, hyphen } = expressions ??= constraintExpressions();
  const rewritten = replaceAll(
    hyphen,
    source,
    ({ groups: [from = "", ...rest] }) => `>= ${from}, <= ${rest[9] ?? ""} `,
  );
  return rewritten.split("||").map((part) => {
    if (!all.matches(part)) throw new Error(`improper constraint: ${part}`);
    return each.findAll(part, -1).map(({ text }) => parseConstraint(text));
  });
}

function parseConstraint(source: string): Constraint {
  const [match] = (expressions ??= constraintExpressions()).one.findAll(source, 1);
  if (match === undefined) throw new Error(`improper constraint: ${source}`);
  const [operator = "", , major = "", minor = "", patch = "", pre = ""] = match.groups;
  const numbers = [major, minor, patch].map((number) => number.replace(".", ""));
  const open = numbers.findIndex((number) => number === "" || /^[xX*]$/.test(number));
  const given = open < 0 ? 3 : open;
  const exact = [...numbers.slice(0, given), "0", "0", "0"].slice(0, 3).join(".");
  try {
    return { operator, given, version: parseVersion(exact + pre) };
  } catch {
    // The text is not a version.
    throw new Error("constraint Parser Error");
  }
}

type Check = (version: Version, constraint: Constraint) => boolean;

const CHECKS: Readonly<Record<string, Check>> = {
  "": equalOrTilde,
  "=": equalOrTilde,
  "!=": notEqual,
  ">": greaterThan,
  "<": (v, c) => compareVersions(v, c.version) < 0,
  ">=": (v, c) => compareVersions(v, c.version) >= 0,
  "=>": (v, c) => compareVersions(v, c.version) >= 0,
  "<=": lessOrEqual,
  "=<": lessOrEqual,
  "~": tilde,
  "~>": tilde,
  "^": caret,
};

/**
 * Whether a version satisfies a constraint. A pre-release satisfies only constraints with a pre-release, or an exact
 * `!=`.
 */
function satisfies(version: Version, constraint: Constraint): boolean {
  const exception = constraint.operator === "!=" && constraint.given === 3;
  if (version.pre !== "" && constraint.version.pre === "" && !exception) return false;
  return CHECKS[constraint.operator]?.(version, constraint) ?? false;
}

function equalOrTilde(version: Version, constraint: Constraint): boolean {
  return constraint.given < 3 ? tilde(version, constraint) : compareVersions(version, constraint.version) === 0;
}

/** `!=1.x` needs a different major version; `!=1.2` needs a different major or minor version. */
function notEqual(version: Version, { version: wanted, given }: Constraint): boolean {
  if (given === 3 || given === 0) return compareVersions(version, wanted) !== 0;
  if (compareFirst(version, wanted, given) !== 0) return true;
  return given === 2 && comparePrereleases(version.pre, wanted.pre) !== 0;
}

/** `>1.2` means `>1.2.x`: 1.2.9 is not greater, 1.3.0 is. */
function greaterThan(version: Version, { version: wanted, given }: Constraint): boolean {
  if (given === 3 || given === 0) return compareVersions(version, wanted) > 0;
  return compareFirst(version, wanted, given) > 0;
}

/** `<=1.2` includes 1.2.9. */
function lessOrEqual(version: Version, { version: wanted, given }: Constraint): boolean {
  if (given === 3) return compareVersions(version, wanted) <= 0;
  return compareFirst(version, wanted, given === 1 ? 1 : 2) <= 0;
}

function compareFirst(a: Version, b: Version, count: number): number {
  for (let i = 0; i < count; i++) {
    const [x = 0n, y = 0n] = [a.numbers[i], b.numbers[i]];
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}

/**
 * `~1.2.3`: the same major and minor version, and at least this patch. `~1` allows any minor version; `~0.0.0` and `~*`
 * allow any version.
 */
function tilde(version: Version, { version: wanted, given }: Constraint): boolean {
  if (compareVersions(version, wanted) < 0) return false;
  const isZero = wanted.numbers.every((number) => number === 0n);
  if (isZero && (given === 3 || given === 0)) return true;
  return compareFirst(version, wanted, given === 1 ? 1 : 2) === 0;
}

/** `^1.2`: the first nonzero number stays the same, and the version is not lower. */
function caret(version: Version, { version: wanted, given }: Constraint): boolean {
  if (compareVersions(version, wanted) < 0) return false;
  const [major, minor] = wanted.numbers;
  if (major > 0n || given === 1) return compareFirst(version, wanted, 1) === 0;
  if (minor > 0n || given === 2) return compareFirst(version, wanted, 2) === 0;
  return compareFirst(version, wanted, 3) === 0;
}
