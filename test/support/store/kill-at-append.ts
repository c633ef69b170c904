/** Variables of a gateway's process that kills itself at an append to its journal: `kill-at-append.mjs`. */

/**
 * @param moment such as `3 before`, `3 torn` or `3 behind`, counted from SIGUSR2 on, or `3 torn start`
 * @param text what appends have that count; without it each does
 */
export const killAtAppend = (moment: string, text = ""): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${new URL("kill-at-append.mjs", import.meta.url)}`,
  WEIR_KILL_AT: moment,
  WEIR_KILL_TEXT: text,
});
