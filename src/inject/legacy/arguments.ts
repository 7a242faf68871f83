/** The command line of a container. */
import { isList, type ValueMap } from "../../core/value.ts";

/** The arguments that are texts, which after decoding all are. */
export function argumentsOf(container: ValueMap): readonly string[] {
  const args = container["args"];
  return isList(args) ? args.filter((arg) => typeof arg === "string") : [];
}

/** The text after `--name`, `-name` or `--name=`; `undefined` if the flag is not there or is the last argument. */
export function flagValue(container: ValueMap, name: string): string | undefined {
  const args = argumentsOf(container);
  const flag = new RegExp(`^--?${name}(?:=(\\d+))?$`);
  const at = args.findIndex((arg) => flag.test(arg.trim()));
  return at < 0 ? undefined : flag.exec(args[at]?.trim() ?? "")?.[1] ?? args[at + 1];
}
