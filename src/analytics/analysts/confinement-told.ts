/** How analysts' statements run in the embedded engine, for the operator: in `weir check` and in the log of a start. */

import { type AnalystsSetting, confinementText, probeConfinement } from "../engine/confinement.ts";
import type { AnalystAccess } from "./analyst-access.ts";

interface StartLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

/** Tries it out, in other processes. */
export async function analystsState(setting: AnalystsSetting): Promise<string> {
  return confinementText(await probeConfinement(setting));
}

/** Logs a line once it is known. The start does not wait for it. */
export function tellConfinement({ confinement }: Pick<AnalystAccess, "confinement">, log: StartLog): void {
  void confinement().then((found) => {
    if (found === undefined) return;
    const fields = { analysts: found.kind };
    if (found.kind === "unconfined") log.warn(fields, confinementText(found));
    else log.info(fields, confinementText(found));
  });
}
