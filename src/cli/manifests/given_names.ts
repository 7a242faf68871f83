import { UsageError } from "../../base/errors.ts";
import { isNamespaceName, NAMESPACE_NAME_HINT } from "../../kube/mod.ts";

/** Matches the tag of an image, with an optional digest. */
const TAG = /^\w[\w.-]{0,127}(@[a-z0-9]+([+._-][a-z0-9]+)*:[0-9a-fA-F]{32,})?$/;

/** Names that the user gives for objects of the output. */
interface GivenNames {
  readonly namespace?: string | undefined;
  readonly revision?: string | undefined;
  readonly tag?: string | undefined;
}

/** Throws a UsageError for a namespace, revision or tag that cannot exist. Accepts empty values, which mean none. */
export function checkNames({ namespace = "", revision = "", tag = "" }: GivenNames): void {
  check("--namespace", namespace, isNamespaceName(namespace), NAMESPACE_NAME_HINT);
  check("--revision", revision, isNamespaceName(revision), NAMESPACE_NAME_HINT);
  check("--tag", tag, TAG.test(tag), "use up to 128 letters, digits, _, . and -, such as 1.20.8");
}

function check(flag: string, value: string, isValid: boolean, hint: string): void {
  if (value !== "" && !isValid) throw new UsageError(`Invalid value "${value}" for "${flag}"`, { hint });
}
