/** What rooms whose acts change something get: where they put their events and their rows of the audit. */
import type { Audit } from "./audit.ts";
import type { Events } from "./events.ts";

export interface Trail {
  readonly events: Pick<Events, "emit">;
  readonly audit: Pick<Audit, "note">;
}
