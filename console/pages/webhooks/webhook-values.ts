/** What one types in the form of a webhook, what is wrong with it, and the body it becomes. Pure. */
import type { Operations } from "../../api/operations.ts";
import { ALL_EVENTS, type EventType } from "./event-words.ts";
import type { Webhook } from "./webhook-words.ts";

type Chosen = Exclude<EventType, "webhook.test">;

export interface WebhookValues {
  readonly url: string;
  readonly description: string;
  /** Also those of later releases. */
  readonly isAll: boolean;
  /** Looked at where not all are wanted. */
  readonly events: readonly EventType[];
}

export const NEW_VALUES: WebhookValues = { url: "", description: "", isAll: true, events: [] };

export const valuesOf = ({ url, description, events }: Webhook): WebhookValues => ({
  url,
  description,
  isAll: events.length === 0,
  events,
});

export type ValueFaults = Partial<Record<"url" | "events", string>>;

export function faultsOf({ url, isAll, events }: WebhookValues): ValueFaults {
  return {
    ...(!/^https?:\/\/./.test(url.trim()) && { url: "Give an address that begins with https://" }),
    ...(!isAll && events.length === 0 && { events: "Choose at least one" }),
  };
}

export const bodyOf = ({
  url,
  description,
  isAll,
  events,
}: WebhookValues): Operations["createWebhook"]["body"] => ({
  url: url.trim(),
  description: description.trim(),
  events: isAll ? [] : (ALL_EVENTS.filter((type) => events.includes(type)) as Chosen[]),
});

/** Only what differs; undefined where nothing does. */
export function patchOf(
  webhook: Webhook,
  values: WebhookValues,
): Operations["updateWebhook"]["body"] | undefined {
  const { url, description, events = [] } = bodyOf(values);
  const isSame =
    events.length === webhook.events.length &&
    webhook.events.every((type) => events.includes(type as Chosen));
  const body = {
    ...(url !== webhook.url && { url }),
    ...(description !== webhook.description && { description }),
    ...(!isSame && { events }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}
