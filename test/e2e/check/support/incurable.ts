/** Breakages that no command of the advice can heal here, and why. The others are healed by the first command. */

/** By the name of the breakage. */
export const INCURABLE: Readonly<Record<string, string>> = {
  "no webhook, and nothing shows who installed it":
    "only istioctl or the operator that installed it knows its settings",
};

/** What the first command may be for these: it looks. */
export const NO_CURE = /^(kubectl (get|describe|logs|version|mesh check|mesh webhook) ?|oc )/;
