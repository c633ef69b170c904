/** Edits of an upstream's response object for the client, by position. */
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity } from "../format.ts";
import { type Edit, latin1Json, type Member, setMember } from "../json/json.ts";
import type { SvcReply } from "../neutral/contract.ts";
import { svcJson } from "../svc.ts";
import { writeResponsesUsage } from "./usage.ts";

/**
 * Sets id, model and `previous_response_id`.
 * @param previousId the client's: the upstream did not get it, and sends null
 */
export function responseEdits(
  text: string,
  members: readonly Member[],
  identity: AnswerIdentity,
  previousId: string | undefined,
): Edit[] {
  const edits = [
    setMember(text, members, "id", latin1Json(identity.id)),
    setMember(text, members, "model", latin1Json(identity.model)),
  ];
  if (previousId !== undefined) {
    edits.push(setMember(text, members, "previous_response_id", latin1Json(previousId)));
  }
  return edits;
}

/** Adds `svc` after the settlement, and usage if needed. @param hasUsage the upstream reported usage, which is kept */
export function settledEdits(
  text: string,
  members: readonly Member[],
  hasUsage: boolean,
  usage: Usage,
  svc: SvcReply,
): Edit[] {
  const edits = [setMember(text, members, "svc", svcJson(svc))];
  if (!hasUsage) edits.push(setMember(text, members, "usage", JSON.stringify(writeResponsesUsage(usage))));
  return edits;
}
