/** What calls leave behind that routes are asked for: responses, conversations, streams. */
import type { Answer } from "../gateway.ts";
import type { CallWorld, RouteCall, Values } from "./call-world.ts";

/** A good body of a response. */
const response = { model: "weir/sim-small", input: "Hi" };
/** Good items of a conversation. */
const items = { items: [{ role: "user", content: "Hi" }] };

/** The id of what was made. @throws Error where it was not */
export const createdId = async (answer: Promise<Answer>): Promise<{ id: string }> => {
  const { status, json, text } = await answer;
  if (status >= 300) throw new Error(`nothing was made: ${text}`);
  return { id: json.id };
};
const newResponse = ({ asKey }: CallWorld) => createdId(asKey("POST", "/v1/responses", response));
/** A response that its gateway is long at. */
const newBackground = ({ asKey }: CallWorld) =>
  createdId(
    asKey("POST", "/v1/responses", {
      ...response,
      input: "[[sim tokens=2000 gap_ms=50]]",
      background: true,
    }),
  );
const newConversation = ({ asKey }: CallWorld) => createdId(asKey("POST", "/v1/conversations", items));
async function newItem({ asKey }: CallWorld): Promise<Values> {
  const { json: made } = await asKey("POST", "/v1/conversations", items);
  const { json } = await asKey("GET", `/v1/conversations/${made.id}/items`);
  return { id: made.id, item_id: json.data[0].id };
}
/** One that has ended: its answer is kept for ten minutes. */
async function newDetached({ asKey }: CallWorld): Promise<Values> {
  const body = { model: "weir/sim-small", messages: items.items, svc: { on_disconnect: "detach" } };
  const { json } = await asKey("POST", "/v1/chat/completions", body);
  return { id: String(json.id).replace("chatcmpl-", "") };
}

export const KEPT_CALLS: Readonly<Record<string, RouteCall>> = {
  "POST /v1/responses": { body: () => response },
  "GET /v1/responses/{id}": { values: newResponse },
  "GET /v1/responses/{id}/input_items": { values: newResponse },
  "DELETE /v1/responses/{id}": { values: newResponse },
  "POST /v1/responses/{id}/cancel": { values: newBackground },
  "POST /v1/conversations": { body: () => items },
  "GET /v1/conversations/{id}": { values: newConversation },
  "POST /v1/conversations/{id}": { values: newConversation, body: () => ({ metadata: { it: "is" } }) },
  "DELETE /v1/conversations/{id}": { values: newConversation },
  "POST /v1/conversations/{id}/items": { values: newConversation, body: () => items },
  "GET /v1/conversations/{id}/items": { values: newConversation },
  "GET /v1/conversations/{id}/items/{item_id}": { values: newItem },
  "DELETE /v1/conversations/{id}/items/{item_id}": { values: newItem },
  "POST /v1/responses/input_tokens": { body: () => response },
  "GET /v1/generation/{id}/stream": { values: newDetached },
  "POST /v1/generation/{id}/cancel": { values: newDetached },
};
