/** What an event is about, as far as its data says: a name and an id. Pure. */
import type { Operations } from "../../api/operations.ts";

type Event = Operations["listEvents"]["answer"]["data"][number];

export interface Subject {
  /** `key`, `topup`: what the id is of. */
  readonly kind: string;
  readonly id: string;
  readonly name?: string;
}

/** Members of an event's data that name what it is about, the best first. */
const IDS = ["key_id", "id", "user_id", "endpoint_id", "endpoint", "policy", "name"] as const;
const NAMES = ["name", "email", "subject", "description", "number", "url"] as const;

export function subjectOf({ type, data }: Pick<Event, "type" | "data">): Subject | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const textOf = (name: string): string | undefined => {
    const value = (data as Readonly<Record<string, unknown>>)[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const id = IDS.map(textOf).find((each) => each !== undefined);
  if (id === undefined) return undefined;
  const name = NAMES.map(textOf).find((each) => each !== undefined);
  const kind = type.slice(0, type.indexOf("."));
  return { kind: kind === "limits" ? "key" : kind, id, ...(name !== undefined && name !== id && { name }) };
}
