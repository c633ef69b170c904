/** What rooms whose acts change something get: where they put their events and their rows of the audit. */
import type { z } from "zod";
import type { Caller } from "../../base/operation/operation.ts";
import type { Audit, AuditEntry } from "./audit.ts";
import type { Events } from "./events.ts";
import type { EventType } from "./types.ts";

export interface Trail {
  readonly events: Pick<Events, "emit">;
  readonly audit: Pick<Audit, "note">;
}

/** @template T the resource as the API shows it */
type EntryOf<T> = AuditEntry & ({ readonly after: T } | { readonly before: T; readonly after?: never });

/**
 * Only in an act: notes it, and emits an event with the resource as it is after the act, or as it was before where it is gone. An
 * event that carries anything else is emitted beside the note.
 */
export function noteAndEmit<D extends z.ZodType>(
  { audit, events }: Trail,
  caller: Caller,
  type: EventType<D>,
  entry: EntryOf<z.input<D>>,
): void {
  audit.note(caller, entry);
  events.emit(type, entry.orgId ?? caller.orgId, entry.after ?? (entry.before as z.input<D>));
}
