/** What the organisation of a demo asks its operator for: tickets that wait, and one that was answered. */
import { OPERATOR } from "./cast.ts";
import { Person } from "./person.ts";

/** @param keys for whose limits it asks */
export async function askTickets(
  url: string,
  owner: Person,
  keys: readonly { readonly id: string }[],
): Promise<void> {
  await owner.call("POST", "/v1/tickets", {
    kind: "other",
    subject: "Invoice needs our purchase order number",
    message: "Please put PO-20931 on the invoices of this quarter.",
  });
  // More than is approved at once: it waits for the operator.
  await owner.call("POST", "/v1/limits/requests", {
    key_id: keys[0]?.id,
    rpm: 400_000,
    reason: "The sale begins on Friday.",
  });
  // Within twice the plan's, which is approved at once.
  await owner.call("POST", "/v1/limits/requests", {
    key_id: keys[1]?.id,
    rpm: 90_000,
    reason: "The support desk takes over two more countries in January.",
  });
  await owner.call("POST", "/v1/tickets", {
    kind: "refund",
    subject: "Refund of the second top-up",
    message: "We bought it twice by mistake. Please send back what is left of the second one.",
  });
  await decideOne(url, owner);
}

/** A question that the operator has answered. */
async function decideOne(url: string, owner: Person): Promise<void> {
  const operator = await Person.signIn(url, OPERATOR);
  const { id } = await owner.call<{ readonly id: string }>("POST", "/v1/tickets", {
    subject: "Which of your providers keep our prompts?",
  });
  await operator.call("POST", `/v1/operator/tickets/${id}/decide`, {
    status: "approved",
    answer: "None that your data policy lets in: see Models for each.",
  });
}
