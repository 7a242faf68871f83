/**
 * The releases that a configuration was written for: `1.1` (1.0 and 1.1, `[[ ]]` templates), `1.8` (1.2 to 1.8, `template:`
 * with `{{ }}`), `current` (1.9 and later).
 */
export type Era = "1.1" | "1.8" | "current";
