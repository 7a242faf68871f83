/** The names that a template body may use while it is parsed. */
export interface Scope {
  /** Variables declared so far, `$` first. */
  variables: string[];
  /** How many `range` bodies surround this place: `break` and `continue` need one. */
  ranges: number;
}

/** The scope in which each template body starts. */
export function newScope(): Scope {
  return { variables: ["$"], ranges: 0 };
}
