/** What a start prints: address, key, a command that works when pasted, where to read on. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { FIRST_KEY_FILES, type FirstStart } from "../../account/first-start.ts";
import type { Config } from "../settings/config.ts";

export interface ScreenFacts {
  /** The first start, where the data folder was empty. */
  readonly first: FirstStart | undefined;
  readonly isTerminal: boolean;
  /** Shown on a terminal only. Undefined: none is offered. */
  readonly signInLink?: string | undefined;
  /** Gateways behind the address, and where their metrics are. Undefined: one without a supervisor. */
  readonly several?: { readonly cells: number; readonly metricsUrl: string };
}

export function startScreen(
  url: string,
  config: Config,
  { first, isTerminal, signInLink, several }: ScreenFacts,
): string {
  const keyFile = join(config.dataDir, FIRST_KEY_FILES.live);
  const key = existsSync(keyFile) ? `$(cat ${pasted(keyFile)})` : "$WEIR_API_KEY";
  const cells = several?.cells;
  const many = cells === undefined ? "" : ` with ${cells} ${cells === 1 ? "cell" : "cells"}`;
  return [
    "",
    `  Weir is ready at ${url}${many}`,
    keyLine(config, first, isTerminal),
    "",
    `  Console: ${url}/console`,
    // Log files and collectors keep lines for longer than a secret should be exposed.
    ...(isTerminal && signInLink !== undefined
      ? [`  Sign in: ${signInLink}`, "  (once, within ten minutes, on this machine)"]
      : []),
    "",
    `  curl ${url}/v1/chat/completions \\`,
    `    -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `    -d '{"model": "weir/sim-small", "messages": [{"role": "user", "content": "Hello"}]}'`,
    "",
    `  API reference: ${url}/docs   Guide: README.md`,
    ...(several === undefined
      ? []
      : [
          `  Cells: weir cells   Restart one after the other: kill -HUP ${process.pid}`,
          `  Metrics of all cells: ${several.metricsUrl || "nowhere, set METRICS_PORT"}`,
        ]),
    "",
    "",
  ].join("\n");
}

/** Where the first keys are. */
export function keyLine(
  { dataDir, settings }: Config,
  first: FirstStart | undefined,
  isTerminal: boolean,
): string {
  const keyFile = join(dataDir, FIRST_KEY_FILES.live);
  if (first === undefined && !existsSync(keyFile))
    return "  Key: in WEIR_API_KEY below, one that you have or make (docs/operating.md#keys)";
  const grant = first === undefined ? "" : `, $${settings.grant_usd.toFixed(2)} granted`;
  // Shown only at the first start, and only on a terminal: log files and collectors keep lines for longer than a key
  // should be exposed.
  const shown = first !== undefined && isTerminal ? `${first.liveSecret} (also ` : "";
  return `  Key: ${shown}in ${keyFile}${shown === "" ? "" : ")"}${grant}`;
}

/** The path quoted for a shell, relative to this folder if that is shorter. */
function pasted(path: string): string {
  const near = relative(process.cwd(), path);
  const short = near.startsWith("..") || near.length > path.length ? path : near;
  return /^[\w./@%+:,-]+$/.test(short) ? short : `'${short.replaceAll("'", "'\\''")}'`;
}
